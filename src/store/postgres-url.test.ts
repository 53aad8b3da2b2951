import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pg from 'pg'
import { verifyingFully } from './postgres-url.ts'

const server = 'postgres://ugs:secret@db.example.com,db2.example.com/ugs'

describe('sslmode in the URL of PostgreSQL', () => {
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
    it(`is verify-full where it is ${mode}, wherever it stands`, () => {
      for (const [before, behind] of [
        ['?', ''],
        ['?', '&target_session_attrs=read-write'],
        ['?application_name=x&', '&sslrootcert=/ca.crt'],
      ])
        assert.equal(
          verifyingFully(`${server}${before}sslmode=${mode}${behind}`),
          `${server}${before}sslmode=verify-full${behind}`,
        )
    })

  it('stays what it is where it says something else, or where that of libpq is asked for', () => {
    for (const parameters of [
      '',
      '?sslmode=disable',
      '?sslmode=no-verify',
      '?sslmode=required',
      '?x_sslmode=require',
      '?application_name=sslmode=require',
      '?uselibpqcompat=true&sslmode=require',
      '?sslmode=require&uselibpqcompat=true',
    ])
      assert.equal(verifyingFully(server + parameters), server + parameters)
  })

  it('means to the driver what it meant before', () => {
    const tls = (url: string) => new pg.Client({ connectionString: url.replace(/,[^/]*/, '') }).ssl
    for (const mode of ['prefer', 'require', 'verify-ca']) {
      const url = `${server}?sslmode=${mode}`
      assert.deepEqual(tls(verifyingFully(url)), tls(url))
    }
  })
})
