import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Memory } from './memory.ts'

describe('what the service remembers', () => {
  it('is kept while nothing changes, and forgotten with the first change', async () => {
    let version = 1
    const memory = new Memory(() => version)
    const answers = ['first', 'second']
    const read = async () => answers.shift()
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', read), 'first')
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', read), 'first')
    version = 2
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', read), 'second')
  })

  it('is nothing that was read before a change that another request found meanwhile', async () => {
    let version = 1
    const memory = new Memory(() => version)
    memory.refresh()
    const slow = Promise.withResolvers<string>()
    const reading = memory.recall('token', 1, 'name', () => slow.promise)
    version = 2
    memory.refresh()
    slow.resolve('too early')
    assert.equal(await reading, 'too early')
    assert.equal(await memory.recall('token', 1, 'name', async () => 'in time'), 'in time')
  })

  it('is nothing that was read while something changed, once the change is found', async () => {
    let version = 1
    const memory = new Memory(() => version)
    memory.refresh()
    memory.recall('token', 1, 'name', () => {
      version = 2
      return 'too early'
    })
    memory.refresh()
    assert.equal(
      memory.recall('token', 1, 'name', () => 'in time'),
      'in time',
    )
  })

  it('is forgotten of one user group, and kept of nearly all others', () => {
    const memory = new Memory(() => 1)
    const recall = (team: number, kind: 'user_group' | 'token', name: string, group: string, answer: string) =>
      memory.recall(
        ...([kind, team, name] as const),
        () => answer,
        () => ({ size: 0, group }),
      )
    const ofAcme = (answer: string) => [
      recall(1, 'user_group', 'acme', 'acme', answer),
      recall(1, 'token', 'current', 'acme', answer),
      recall(1, 'token', 'in its grace', 'acme', answer),
    ]
    const others = Array.from({ length: 100 }, (_, index) => index + 2)
    // A few may share its place.
    const ofOthers = (answer: string) => [
      others.filter((team) => recall(team, 'user_group', 'acme', 'acme', answer) === 'first').length,
      others.filter((index) => recall(1, 'token', `token ${index}`, `group ${index}`, answer) === 'first').length,
    ]
    memory.refresh()
    memory.recall('caller', 1, 'acme', () => 'admitted')
    ofAcme('first')
    assert.deepEqual(ofOthers('first'), [100, 100])
    memory.forget(1, 'acme')
    memory.refresh()
    assert.deepEqual(ofAcme('second'), ['second', 'second', 'second'])
    assert.deepEqual(ofAcme('third'), ['second', 'second', 'second'])
    for (const kept of ofOthers('second')) assert.ok(kept > 95, String(kept))
    assert.equal(
      memory.recall('caller', 1, 'acme', () => 'refused'),
      'admitted',
    )
  })

  it('is nothing that was being read when its user group was forgotten', async () => {
    const memory = new Memory(() => 1)
    const facts = () => ({ size: 0, group: 'acme' })
    memory.refresh()
    const slow = Promise.withResolvers<string>()
    const early = memory.recall('token', 1, 'name', () => slow.promise, facts)
    memory.forget(1, 'acme')
    slow.resolve('too early')
    assert.equal(await early, 'too early')
    assert.equal(
      memory.recall('token', 1, 'name', () => 'in time', facts),
      'in time',
    )
  })

  it('is nothing at all where the database cannot tell whether anything changed', async () => {
    const memory = new Memory(() => undefined)
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', async () => 1), 1)
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', async () => 2), 2)
  })

  it('is asked about again by each, should the database fail to tell', () => {
    const answers = [new Error('not now'), 1]
    const memory = new Memory(() => {
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return answer
    })
    memory.refresh()
    assert.throws(() => memory.recall('token', 1, 'name', () => 'read'), /not now/)
    assert.equal(
      memory.recall('token', 1, 'name', () => 'read'),
      'read',
    )
  })

  it('has a limit for long names as for large answers', () => {
    const memory = new Memory(() => 1)
    memory.refresh()
    const name = (index: number) => String(index).padStart(100_000, '-')
    const entries = 250
    for (let index = 0; index < entries; index += 1) memory.recall('caller', 0, name(index), () => ({ index }))
    const kept = Array.from({ length: entries }, (_, index) => memory.recall('caller', 0, name(index), () => undefined))
    const count = kept.filter((found) => found !== undefined).length
    assert.ok(count > 80 && count < 200, String(count))
  })

  it('is nothing that was not there', () => {
    const memory = new Memory(() => 1)
    memory.refresh()
    assert.equal(
      memory.recall('token', 1, 'name', () => undefined),
      undefined,
    )
    assert.equal(
      memory.recall('token', 1, 'name', () => 'there now'),
      'there now',
    )
  })

  it('takes no more room for being large', () => {
    const memory = new Memory(() => 1)
    const large = 'x'.repeat(64 * 1024)
    const tokens = Array.from({ length: 5_000 }, (_, index) => `token ${index}`)
    memory.refresh()
    for (const token of tokens)
      memory.recall(
        'token',
        1,
        token,
        () => large,
        ({ length }) => ({ size: length }),
      )
    const kept = tokens.filter((token) => memory.recall('token', 1, token, () => undefined) !== undefined)
    assert.ok(kept.length > 100 && kept.length <= 300, `${kept.length} of 64 Ki characters are kept`)
  })

  it('is never of another team, kind or name', () => {
    const memory = new Memory(() => 1)
    memory.refresh()
    const names = Array.from({ length: 2_000 }, (_, index) => `name ${index}`)
    const places = names.flatMap((name) =>
      ([1, 2, 0x1000001] as const).flatMap((team) =>
        (['caller', 'user_group', 'token'] as const).map((kind) => [kind, team, name] as const),
      ),
    )
    for (const place of places) memory.recall(...place, () => place)
    for (const place of places)
      assert.deepEqual(
        memory.recall<readonly unknown[]>(...place, () => place),
        place,
      )
  })
})

describe('what the service remembers of a database that takes its time to tell whether anything changed', () => {
  const reading = () => {
    let times = 0
    return async () => {
      times += 1
      return `read ${times}`
    }
  }

  it('is asked for once for all requests that arrived together, and anew for those that come later', async () => {
    let asked = 0
    const memory = new Memory(async () => {
      asked += 1
      return 'as ever'
    })
    const read = reading()
    for (const expected of ['read 1', 'read 2', 'read 2', 'read 2']) {
      memory.refresh()
      const answers = [memory.recall('token', 1, 'name', read), memory.recall('token', 1, 'name', async () => expected)]
      assert.equal(await answers[0], expected)
      await answers[1]
    }
    assert.equal(asked, 4)
  })

  it('is not answered before the database has told, and then only if nothing has changed', async () => {
    const versions = ['a', 'a', 'b', 'b'].map((version) => ({ version, told: Promise.withResolvers<string>() }))
    let asked = 0
    const memory = new Memory(() => versions[asked++]?.told.promise)
    const read = reading()
    const answers: (string | undefined)[] = []
    for (const { version, told } of versions) {
      memory.refresh()
      const answer = Promise.resolve(memory.recall('token', 1, 'name', read)).then((text) => answers.push(text))
      await new Promise(setImmediate)
      answers.push(`${version} is told`)
      told.resolve(version)
      await answer
    }
    assert.deepEqual(answers, [
      ...['read 1', 'a is told'],
      ...['read 2', 'a is told'],
      ...['b is told', 'read 3'],
      ...['read 4', 'b is told'],
    ])
  })

  it('is not answered when the database cannot be asked', async () => {
    const answers = [() => 'a', () => 'a', () => Promise.reject(new Error('out of reach'))]
    const memory = new Memory(async () => answers.shift()?.())
    for (const name of ['another', 'name']) {
      memory.refresh()
      assert.equal(await memory.recall('token', 1, name, async () => name), name)
    }
    memory.refresh()
    // Nobody waits for what this has asked: that is no reason to end the process.
    assert.equal(await memory.recall('token', 1, 'a third', async () => 'read'), 'read')
    await new Promise(setImmediate)
    await assert.rejects(async () => memory.recall('token', 1, 'name', async () => 'read'), /out of reach/)
  })

  it('is nothing that was told of a time before the database could not tell', async () => {
    const [one, two] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const versions = [one.promise, two.promise, undefined]
    const memory = new Memory(() => versions.shift())
    memory.refresh()
    memory.recall('token', 1, 'another', async () => 'read')
    one.resolve('a')
    await new Promise(setImmediate)
    memory.refresh()
    const slow = Promise.withResolvers<string>()
    const early = memory.recall('token', 1, 'name', () => slow.promise)
    // Here it changes, and a request arrives that must see that.
    memory.refresh()
    memory.recall('token', 1, 'another', async () => 'read')
    two.resolve('a')
    slow.resolve('too early')
    assert.equal(await early, 'too early')
    await new Promise(setImmediate)
    assert.equal(await memory.recall('token', 1, 'name', async () => 'in time'), 'in time')
  })

  it('is nothing that was read before it told of a change', async () => {
    const versions = ['a', 'b', 'b']
    const memory = new Memory(async () => versions.shift())
    memory.refresh()
    await memory.recall('token', 1, 'another', async () => 'read')
    memory.refresh()
    const slow = Promise.withResolvers<string>()
    const early = memory.recall('token', 1, 'name', () => slow.promise)
    await new Promise(setImmediate)
    slow.resolve('too early')
    assert.equal(await early, 'too early')
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', async () => 'in time'), 'in time')
  })
})
