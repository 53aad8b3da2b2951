import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { clientTypes } from '../../scripts/client-types.ts'
import { TypePrinter } from '../../scripts/type-printer.ts'
import { catalogue } from '../../src/errors.ts'
import { operations } from '../../src/operations.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe("the client's types", () => {
  it('are those of the operations: run "npm run generate" after changing one', () => {
    assert.equal(read('client/src/types.ts'), clientTypes(operations, Object.keys(catalogue)))
  })

  it('refuse two different schemas of one title', () => {
    const printer = new TypePrinter()
    printer.print({ title: 'Thing', type: 'object', properties: { a: { type: 'string' } } }, '')
    assert.throws(() => printer.print({ title: 'Thing', type: 'object', properties: {} }, ''), /Thing/)
  })
})

describe("the client's package", () => {
  const { version, dependencies, license, scripts } = JSON.parse(read('client/package.json'))

  it('has the version of the service, its license and no dependencies', () => {
    assert.equal(version, JSON.parse(read('package.json')).version)
    assert.equal(read('client/LICENSE'), read('LICENSE'))
    assert.deepEqual({ dependencies, license }, { dependencies: undefined, license: 'MIT' })
  })

  it('is built before it is packed', () => {
    assert.deepEqual(scripts, { prepack: 'npm --prefix .. run --silent build' })
  })
})
