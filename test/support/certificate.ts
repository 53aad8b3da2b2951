import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export interface Certificate {
  certificate: string
  key: string
}

/** Why no certificate can be made here; undefined when one can. */
export function lacksOpenssl(): string | undefined {
  return spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl is not on the PATH'
}

/** A certificate that signs itself, as two files of a folder: whoever trusts it trusts nothing else. */
export function makeCertificate(folder: string, host: string): Certificate {
  const certificate = join(folder, `${host}.crt`)
  const key = join(folder, `${host}.key`)
  const made = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate],
      ...['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`],
    ],
    { encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`openssl failed: ${made.stderr}`)
  return { certificate, key }
}
