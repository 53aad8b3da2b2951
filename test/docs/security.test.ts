import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startProxy, versionOf } from '../../campaigns/proxy-process.ts'
import { aroundNginxServer, nginx, proxySetups } from '../../campaigns/proxy-setups.ts'
import { lacksOpenssl, makeCertificate } from '../support/certificate.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { testApiToken } from '../support/service-process.ts'
import { fences, read, rowsOf, tableIn } from './markdown.ts'

const path = 'SECURITY.md'
const blocks = fences(read(path))
const blockIn = (language: string) => blocks.find((block) => block.language === language)?.text ?? ''

describe('SECURITY.md', () => {
  it('lists the proxies of the campaign, and what becomes of the body of a GET in each', () => {
    const rows = rowsOf(tableIn(path, 'Proxy', 'Seen with', 'GET with a body', 'How it was set up'))
    assert.deepEqual(
      rows.map(([name, , body]) => [name, body]),
      proxySetups.map(({ name, getBody }) => [name, getBody]),
    )
  })

  it('shows a security.txt that RFC 9116 lets pass', () => {
    const fields = blockIn('text')
      .trim()
      .split('\n')
      .map((line) => /^([A-Z][A-Za-z-]+): (\S.*)$/.exec(line)?.slice(1) ?? [])
    const values = (name: string) => fields.filter(([field]) => field === name).map(([, value = '']) => value)
    assert.match(values('Contact').join(), /^(mailto:|https:|tel:)/)
    assert.equal(values('Expires').length, 1)
    assert.ok(values('Expires').every((time) => /^\d{4}-\d\d-\d\dT.*Z$/.test(time) && !Number.isNaN(Date.parse(time))))
    for (const name of ['Canonical', 'Policy']) assert.match(values(name).join(), /^https:/)
    const known = ['Contact', 'Expires', 'Preferred-Languages', 'Canonical', 'Policy']
    assert.ok(fields.every(([name = '']) => known.includes(name)))
  })
})

const lacking = versionOf(nginx) === undefined ? 'nginx is not on the PATH' : lacksOpenssl()

describe('the nginx of SECURITY.md', { skip: lacking ?? false }, () => {
  it('lets callers with a certificate through, encrypted, and nobody else', async (t) => {
    const [engine] = engines
    assert.ok(engine)
    const { service } = await running(t, engine)
    let certificates = ''
    const proxy = await startProxy(
      {
        name: 'SECURITY.md',
        program: nginx,
        getBody: 'passed on',
        configuration(url, port, folder) {
          certificates = folder
          makeCertificate(folder, 'server')
          makeCertificate(folder, 'caller')
          copyFileSync(join(folder, 'caller.crt'), join(folder, 'callers.crt'))
          const server = blockIn('nginx')
            .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
            .replaceAll('/etc/ssl/groups/', `${folder}/`)
            .replace('http://127.0.0.1:8080', url.origin)
          return aroundNginxServer(folder, server)
        },
      },
      new URL(service.url),
    )
    t.after(proxy.stop)
    const file = (name: string) => readFileSync(join(certificates, name))
    const trusting = { ca: file('server.crt'), servername: 'server' }
    const known = { ...trusting, cert: file('caller.crt'), key: file('caller.key') }
    const url = proxy.url.replace('http:', 'https:')

    for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
      const passed = await lookUp(url, { ...known, maxVersion })
      assert.equal(passed.status, 200, passed.text)
      assert.equal(passed.protocol, maxVersion)
      assert.match(String(passed.headers['strict-transport-security']), /^max-age=\d{8}/)
      assert.match(passed.text, /"provided_id":"acme"/)
    }
    for (const stranger of [trusting, { ...trusting, cert: file('server.crt'), key: file('server.key') }]) {
      const refused = await lookUp(url, stranger)
      assert.equal(refused.status, 400)
      assert.match(refused.text, /certificate/i)
      assert.equal(refused.headers['x-request-id'], undefined, 'the service has seen it')
    }
    assert.equal((await fetch(`${proxy.url}/healthz`)).status, 400)
  })
})

async function lookUp(url: string, options: RequestOptions) {
  const body = JSON.stringify({ user_group_id: 'acme' })
  const headers = {
    authorization: `Token ${testApiToken}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const sent = request(`${url}/api/user`, { method: 'GET', headers, agent: false, ...options }).end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage & { socket: { getProtocol(): string } }]
  const protocol = answer.socket.getProtocol()
  const text = (await answer.setEncoding('utf8').toArray()).join('')
  return { status: answer.statusCode, headers: answer.headers, protocol, text }
}
