import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Caller } from '../support/caller.ts'
import { fences, read } from './markdown.ts'
import { Reader } from './reader.ts'

const [, fromHere = ''] = read('docs/operating.md').split('\n## When something has leaked or is lost\n')
const [chapter = ''] = fromHere.split('\n## ')
const sections = new Map(
  chapter.split('\n### ').map((text) => {
    const title = text.slice(0, text.indexOf('\n'))
    const commands = fences(text).filter(({ language }) => language === 'sh')
    return [title, commands.map((block) => block.text)] as const
  }),
)

const chosenToken = 'chosen-by-the-operator-0123456789abcdef'
const shownToken = 'ugt_zWLEKi4jviNOftDrQve9Jtwfe9t7EnCj2hfU4m'

/**
 * The commands as they are written, in the order of the page, each block in a shell of its own, on one service: what
 * each is for must have come true.
 */
describe('when something has leaked or is lost', () => {
  const done = new Set<string>()
  // The README's test runs npx itself; here it would take most of the time.
  const shown = ['npx ugs ', 'npx --no ugs '].map((npx): [string, string] => [
    npx,
    `'${process.execPath}' bin/ugs.mjs `,
  ])
  let reader: Reader
  let billing: string

  before(async () => {
    reader = new Reader(shown, { UGS_API_TOKEN: chosenToken })
    await reader.run('npm start\n')
    shown.push([shownToken, await tokenOf('acme')])
    shown.push(['/safe/', `${reader.folder}/`], ['acme.json', `${reader.folder}/acme.json`])
    billing = (await reader.run('npx ugs api-token create "billing back end" --scope provision admin')).trim()
    await reader.run(`npx ugs schema create sales
      npx ugs data-source create --schema sales --provided-id acme-db
      echo '{"password":"changed"}' > acme.json\n`)
  })
  after(() => reader.close())

  const follow = async (title: string): Promise<string[]> => {
    const commands = sections.get(title) ?? []
    assert.ok(commands.length > 0, `the page has no commands under "${title}"`)
    done.add(title)
    const printed: string[] = []
    for (const text of commands) printed.push(await reader.runApart(text))
    return printed
  }

  const withCaller = async <T>(use: (caller: Caller) => Promise<T>, apiToken = chosenToken): Promise<T> => {
    const caller = new Caller(reader.service.url, apiToken)
    try {
      return await use(caller)
    } finally {
      await caller.close()
    }
  }
  const tokenOf = (id: string) =>
    withCaller(async (caller) => String((await caller.getOrCreate(id)).body.user_group.token))
  const verified = (token: string) => withCaller(async (caller) => (await caller.verify(token)).body)

  it('the token of a user group is ended, the group knows another, and both are on record', async () => {
    const leaked = await tokenOf('acme')
    const [printed = '', byName = '', afterwards] = await follow('The token of a user group has leaked')
    assert.match(printed, /acme/)
    assert.equal((await verified(leaked)).reason, 'rotated')
    const second = /^ugt_\w+$/m.exec(printed)?.[0] ?? ''
    assert.equal(
      (await verified(second)).reason,
      'rotated',
      'the new token is printed, and ended by the name of its group',
    )
    const current = await tokenOf('acme')
    assert.equal(byName, `${current}\n`)
    assert.match(printed, /user_group\.token_rotated/)
    assert.ok(afterwards !== undefined)
    assert.equal((await verified(current)).active, true, 'enabled again')
  })

  it('an API token is ended, another works, and what was done with it is shown', async () => {
    await withCaller((caller) => caller.getOrCreate('made with the leaked one'), billing)
    const [printed = ''] = await follow('An API token has leaked')
    const refused = await withCaller((caller) => caller.getOrCreate('acme'), billing)
    assert.equal(refused.body.error?.code, 'invalid_api_token')
    const [fresh = ''] = printed.split('\n')
    assert.equal((await withCaller((caller) => caller.getOrCreate('acme'), fresh)).status, 200)
    assert.match(printed, /user_group\.created +made with the leaked one +token "billing back end"/)
  })

  it('the master key is replaced, and a backup made that opens with the new one', async () => {
    const before = await tokenOf('acme')
    const old = await reader.run('cat data/master.key')
    const printed = await follow('The master key has leaked')
    assert.match(printed[1] ?? '', /^Sealed [1-9].*no longer needed.*ok +keys/s)
    const fresh = await reader.run('cat data/master.key')
    assert.match(fresh, /^[\w+/]{43}=\n$/)
    assert.notEqual(fresh, old)
    assert.equal(await reader.run('cat /safe/new-master.key'), fresh, 'a copy is kept apart')
    assert.match(await reader.run('ls -l data/master.key /safe/new-master.key'), /^(-rw-------.*\n){2}$/)
    assert.equal(await tokenOf('acme'), before, 'customers notice nothing')
  })

  it('a data source is given another connection', async () => {
    const [printed = ''] = await follow('The database was stolen')
    assert.match(printed, /acme-db/)
    assert.match(await reader.run('npx ugs events --limit 1'), /data_source\.updated/)
  })

  it('the master key comes back from its copy', async () => {
    const before = await tokenOf('acme')
    await reader.service.stop()
    await reader.run('mv data/master.key /safe/master.key')
    assert.match(await reader.run('npx ugs doctor || true'), /master key/)
    const [printed = ''] = await follow('The master key is lost')
    assert.match(printed, /ok +keys/)
    assert.equal(await tokenOf('acme'), before)
  })

  it('the database comes back from the backup', async () => {
    const atTheBackup = await tokenOf('acme')
    const later = await withCaller(async (caller) => (await caller.rotate(atTheBackup)).body.user_group.token)
    await reader.service.stop()
    const [printed = '', trail = ''] = await follow('The database is lost')
    assert.match(printed, /ok +database/)
    assert.equal(await tokenOf('acme'), atTheBackup, 'as it was')
    assert.equal((await verified(later)).active, false)
    assert.match(trail, /billing back end, new/)
  })

  it('all tokens are rotated', async () => {
    const ids = ['acme', 'made with the leaked one', 'a third one']
    const former = await Promise.all(ids.map(tokenOf))
    const [printed] = await follow('Rotating the tokens of all groups')
    assert.equal(printed, '', 'none has failed')
    for (const token of former) assert.equal((await verified(token)).reason, 'rotated')
    const [commands = ''] = sections.get('Rotating the tokens of all groups') ?? []
    assert.equal(await reader.run(commands.replace(/^.*--with-tokens/, ':')), '', 'nor where there are no groups')
  })

  // Last, when all of the above have run theirs.
  it('no command of the page was left out', () => {
    const withCommands = [...sections].filter(([, commands]) => commands.length > 0).map(([title]) => title)
    assert.deepEqual([...done].sort(), withCommands.sort())
  })
})
