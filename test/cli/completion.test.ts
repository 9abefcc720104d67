// Promises of the completion: what is offered at TAB, in the real bash, zsh and fish.
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { type Completion, complete, type NameSource } from '../../src/cli/completion/complete.js'
import { wholeProgram } from '../../src/cli/main.js'
import { realMount } from '../testbed/mount.js'
import { terminal } from '../testbed/terminal.js'

const bin = resolve(fileURLToPath(import.meta.url), '../../../../bin')

const none: NameSource = async () => []

async function values(...words: string[]): Promise<readonly string[]> {
  return valuesIn(await complete(await wholeProgram(), words, none))
}
const valuesIn = ({ candidates }: Completion): readonly string[] => candidates.map(({ value }) => value)

t.test(
  'CMD-6 commands, sub-commands, flags and the words of a flag are offered, each where it may stand',
  async t => {
    t.notOk(
      (await values('')).some(name => name.startsWith('_')),
      'no hidden one',
    )
    t.same(await values('unm'), ['unmount'])
    t.same(await values('--profile', 'x', 'unm'), ['unmount'], 'behind a flag with a value')
    t.same(await values('drafts', 'd'), ['diff', 'drop'])
    t.same(await values('mount', '--acc'), ['--access'])
    t.same(await values('mount', '--access', ''), ['read', 'edit', 'manage'])
    t.same(await values('mount', '--access=m'), ['manage'])
    t.same(await values('completion', ''), ['bash', 'zsh', 'fish'])
    t.same(await values('help', 'conf'), ['conflicts'])
    t.same(await values('help', 'cache', 'v'), ['verify'])
    t.same(await values('status', 'drafts', ''), [], 'an argument too many')
    t.same(await values('nonsense', ''), [])
    t.same(await values('delete', '--', '--y'), [], 'behind -- there are no flags')
    t.notOk((await values('drafts', 'list', '--')).includes('--url'), 'the settings are not in the way')
    t.same(await values('drafts', 'list', '--ur'), ['--url'], 'and offered once one is begun')
  },
)

/** The terminal's own shell sets another one. */
const path = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)

/** Home with two profiles, one of which has a blank in its name. */
function home(t: Test): Readonly<Record<string, string>> {
  const directory = t.testdir()
  mkdirSync(join(directory, '.config/calcfs'), { recursive: true })
  const profiles =
    '[profiles.group]\nurl = "http://127.0.0.1:1"\n[profiles."two words"]\nurl = "http://127.0.0.1:2"\n'
  writeFileSync(join(directory, '.config/calcfs/config.toml'), profiles)
  writeFileSync(join(directory, 'a file of mine'), '')
  return {
    HOME: directory,
    NODE_OPTIONS: '',
  }
}

const shells = [
  {
    name: 'bash',
    start: 'bash --norc --noprofile',
    lines: ['source /usr/share/bash-completion/bash_completion', 'source <(calcfs completion bash)'],
  },
  {
    name: 'zsh',
    start: 'zsh -f',
    lines: ['autoload -Uz compinit && compinit -D -u', 'source <(calcfs completion zsh)'],
  },
  { name: 'fish', start: 'fish --no-config', lines: ['calcfs completion fish | source'] },
]

t.test('CMD-6 at TAB', async t => {
  const testbed = await realMount(t)
  const draft = await testbed.files.open('reports/new-one.json', 'w')
  await draft.write('{', 0)
  await t.rejects(draft.close(), 'it is not saved')
  const { directory } = testbed

  for (const { name, start, lines } of shells) {
    t.test(
      `CMD-6 ${name} completes commands, flags, words, profiles, files, mount points and drafts`,
      async t => {
        const environment = home(t)
        const screen = await terminal(t, `env PATH='${path}' ${start}`, environment)
        await screen.type(...lines, `cd ${environment['HOME']}`, 'clear', 'echo ready')
        await screen.until(/^ready$/m)
        const tab = async (typed: string, becomes: RegExp): Promise<void> => {
          await screen.write(typed)
          await screen.keys('Tab')
          await screen.until(becomes)
          await screen.keys('C-u')
        }
        await tab('calcfs unm', /calcfs unmount\b/)
        await tab('calcfs drafts li', /calcfs drafts list\b/)
        await tab('calcfs mount --max-del', /calcfs mount --max-deletes\b/)
        await tab('calcfs mount --access=ma', /calcfs mount --access=manage/)
        await tab('calcfs --profile gr', /calcfs --profile group/)
        await tab('calcfs --profile tw', /calcfs --profile (['"]two words|two\\ words)/)
        await tab('calcfs why a', /calcfs why (['"]a file|a\\ file)/)
        await tab(`calcfs unmount ${directory.slice(0, -3)}`, new RegExp(`calcfs unmount ${directory}`))
        await tab(`calcfs drafts show --mount ${directory} new`, /\bnew-one\.json/)
      },
    )
  }
})
