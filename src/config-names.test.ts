import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { problemsOf } from '../test/support/problems-of.ts'

const key = randomBytes(32).toString('base64')

describe('an unknown setting', () => {
  for (const [typed, meant] of [
    ['UGS_RATE_LIMT', 'UGS_RATE_LIMIT'],
    ['UGS_MASTERKEY', 'UGS_MASTER_KEY'],
    ['UGS_WORKER', 'UGS_WORKERS'],
    ['UGS_LOGLEVEL', 'UGS_LOG_LEVEL'],
    ['UGS_MASTER_KEYFILE', 'UGS_MASTER_KEY_FILE'],
    ['UGS_API_TOKENS', 'UGS_API_TOKEN'],
    ['UGS_AUTH_FAILURES_LIMIT', 'UGS_AUTH_FAILURE_LIMIT'],
    ['UGS_PORT', 'PORT'],
    ['UGS_HOST', 'HOST'],
    ['UGS_DATABASE_URL', 'DATABASE_URL'],
  ] as const)
    it(`such as ${typed} is refused with the question whether ${meant} was meant`, () =>
      assert.deepEqual(problemsOf({ [typed]: '1' }), [`${typed}: unknown setting (did you mean ${meant}?)`]))

  it('that Kubernetes has set for a Service named ugs is refused with the way to turn that off', () => {
    const links = {
      UGS_SERVICE_HOST: '10.0.0.1',
      UGS_SERVICE_PORT: '80',
      UGS_SERVICE_PORT_HTTP: '80',
      UGS_PORT: 'tcp://10.0.0.1:80',
      UGS_PORT_80_TCP: 'tcp://10.0.0.1:80',
      UGS_PORT_80_TCP_PROTO: 'tcp',
      UGS_PORT_80_TCP_PORT: '80',
      UGS_PORT_80_TCP_ADDR: '10.0.0.1',
    }
    const problems = problemsOf(links)
    assert.equal(problems.length, Object.keys(links).length)
    for (const problem of problems)
      assert.match(problem, /^UGS_\w+: unknown setting \(from a Service of Kubernetes.+enableServiceLinks: false/)
  })

  it('far from any other is refused without a guess, and names that are not ours are left alone', () => {
    assert.deepEqual(problemsOf({ UGS_COMPLETELY_DIFFERENT: '1', OTHER: 'x' }), [
      'UGS_COMPLETELY_DIFFERENT: unknown setting',
    ])
  })
})

describe('an unknown parameter of DATABASE_URL', () => {
  const problemOf = (parameters: string) =>
    problemsOf({ DATABASE_URL: `postgres://ugs:hunter2@db.example/ugs?${parameters}`, UGS_MASTER_KEY: key }).join()

  it('is refused by its place, with the question which one was meant: the driver would ignore it, and TLS be off', () => {
    for (const parameters of ['sslmod=verify-full', 'SSLMODE=verify-full', 'ssl_mode=require', 'sslmode%20=require'])
      assert.equal(problemOf(parameters), 'DATABASE_URL: parameter 1 of 1 is unknown (did you mean sslmode?)')
    assert.match(problemOf('sslmode=require&sslrootcerts=/ca'), /parameter 2 of 2 is .+ mean sslrootcert\?/)
  })

  it('far from any other is refused with those there are', () => {
    for (const parameters of ['pgbouncer=true', 'pool=5', 'dbname=other'])
      assert.match(problemOf(parameters), /^DATABASE_URL: parameter 1 of 1 is unknown; there are user, .*sslmode, /)
  })

  it('is none in a URL that is none, of which the start says more', () => {
    assert.deepEqual(problemsOf({ DATABASE_URL: 'postgres://ugs:hunter2@[db/ugs?x=1', UGS_MASTER_KEY: key }), [])
  })
})
