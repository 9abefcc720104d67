// Promises of `--json`: one document on standard output and nothing else there, in one form for every command.
import t, { type Test } from 'tap'
import { wholeProgram } from '../../src/cli/main.js'
import { realMount } from '../testbed/mount.js'
import type { Ran } from '../testbed/programs.js'
import { commandsBelow } from './commands-below.js'

/** Commands that print no facts, each with what they print instead. */
const factless: Readonly<Record<string, string>> = {
  'calcfs __complete': 'candidates for a shell',
  'calcfs cat': 'contents',
  'calcfs completion': 'a script',
  'calcfs demo': 'a tour',
  'calcfs drafts show': 'a text as it was written',
  'calcfs hand-over': 'nothing',
  'calcfs help': 'a text for people',
  'calcfs history show': 'a text as it was written',
  'calcfs refresh': 'nothing where it was done',
  'calcfs serve': 'the address it listens at, for as long as it runs',
}

t.test('CMD-3 every command that prints facts has --json', async t => {
  const without = commandsBelow(await wholeProgram())
    .filter(
      ([, { commands, options }]) => commands.length === 0 && !options.some(({ long }) => long === '--json'),
    )
    .map(([path]) => path)
  t.same(
    without.filter(path => !Object.hasOwn(factless, path)),
    [],
    'add jsonFlag of src/terminal/print.ts, or say here what it prints',
  )
})

/** A key in camelCase, none in seconds; a time is a text in ISO 8601 and UTC. */
function checked(t: Test, ran: Ran, what: string): unknown {
  const document: unknown = JSON.parse(ran.stdout)
  t.equal(ran.stdout, `${JSON.stringify(document, null, 2)}\n`, `${what}: one document, indented by two`)
  const keys = [...ran.stdout.matchAll(/^ *"([^"]*)":/gm)].map(([, key = '']) => key)
  t.same(
    keys.filter(key => !/^(?!seconds)(\d{3}|[a-z][A-Za-z0-9]*)$/.test(key)),
    [],
    `${what}: camelCase`,
  )
  return document
}

t.test('CMD-3 a mounted drive is asked with --json', async t => {
  const testbed = await realMount(t, { settings: { access: 'manage' } })
  const { calcfs, here, directory, files } = testbed
  const json = async (...args: string[]): Promise<unknown> => {
    const ran = await (args.includes(directory) ? calcfs : here)(...args, '--json')
    return checked(t, ran, args.join(' '))
  }
  t.match(await json('status', directory), [{ mountPoint: directory, since: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ }])
  t.match(await json('why', `${directory}/projects`), { path: '/projects', wrong: false })
  t.match(await json('cache', 'info'), { directory: String, files: Number })
  t.same(await json('cache', 'verify'), { checked: 0, damaged: 0, swept: 0 })
  t.same(await json('drafts', 'list'), [])
  t.match(await json('top', directory), [{ calls: [{ milliseconds: Number }] }])
  t.match(await json('report', 'add', '43', '42'), [{ id: '43', title: String }, { id: '42' }])
  t.match(await json('report', 'set', '42', '1236', '1234'), { id: '42', order: ['1236', '1234'] })
  t.match(await json('report', 'renumber', '42', '1234', '1236'), { id: '42', order: ['1234', '1236'] })
  const draft = await files.open('reports/42.json', 'w')
  await draft.write('{', 0)
  await t.rejects(draft.close(), 'it is not saved')
  t.match(await json('drafts', 'list'), [{ name: '42.json', since: /Z$/ }])
  t.match(await json('drafts', 'diff', '42.json'), { name: '42.json', against: 'service', mine: '{' })
  const refused = await here('drafts', 'send', '42.json', '--json')
  t.not(refused.code, 0, 'it ends as without --json')
  t.match(refused.stderr, /^calcfs: /)
  t.match(await json('drafts', 'drop', '42.json'), { name: '42.json', mayBeStored: false, kept: String })
  t.match(await here('delete', 'reports/43.json', '--json'), { code: 2, stdout: '', stderr: /--yes/ })
  t.match(await json('delete', 'reports/43.json', '--yes'), [
    { path: '/reports/43.json', kind: 'report', outcome: 'deleted' },
  ])
  t.match(await json('unmount', directory), { mountPoint: directory, unsaved: [] })
})
