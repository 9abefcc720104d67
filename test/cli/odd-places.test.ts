// Every command where a user has no home, stands nowhere, or reads nothing: a sentence and an exit code, never the engine's own words. And other people's control characters.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import t, { type Test } from 'tap'
import { wholeProgram } from '../../src/cli/main.js'
import { visible, visibleInJson } from '../../src/terminal/print.js'
import { calcfs as program } from '../testbed/daemon.js'
import { testService } from '../testbed/service.js'
import { drawnFrom } from '../testbed/variants.js'
import { commandsBelow } from './commands-below.js'

const { seed, draw } = drawnFrom()
const runs = Number(process.env['CALCFS_TEST_RUNS'] ?? 10)

t.jobs = 2

/** What a shell does before the line. */
const outputs = { read: '', full: 'exec >/dev/full; ', closed: 'exec >&-; ' }
/** No line of the list of users has this number. */
const stranger = 54_321
const asStranger =
  process.getuid?.() === 0
    ? ['setpriv', `--reuid=${stranger}`, `--regid=${stranger}`, '--clear-groups']
    : ['unshare', '--user', `--map-user=${stranger}`]
const canBeStranger = spawnSync('/usr/bin/env', [...asStranger, 'true']).status === 0

const homes = {
  own: [],
  none: asStranger,
  root: process.getuid?.() === 0 ? asStranger : [],
  process: asStranger,
}

/** These go on until they are ended. */
const unending = /^calcfs (demo|serve|mount|top|log|hand-over)\b/
const ends: Readonly<Record<string, readonly string[]>> = {
  'calcfs top': ['--once'],
  'calcfs log': ['--no-follow'],
}

/** What a user would write for each argument. */
const words = (command: Command): readonly string[] =>
  command.registeredArguments.flatMap(one => (one.required ? [wordFor(one.name())] : []))
const wordFor = (name: string): string =>
  ({ id: '42', shell: 'bash', draft: '42.json', drive: '/nowhere', directory: '/nowhere' })[name] ??
  'projects'

interface Place {
  readonly output: keyof typeof outputs
  readonly home: keyof typeof homes
  readonly isGone: boolean
  readonly scratch: string
  /** Of a service, or of none. */
  readonly url: string
}

function run(line: readonly string[], { url, output, home, isGone, scratch }: Place) {
  const stand = isGone ? 'd=$(mktemp -d); cd "$d"; rmdir "$d"; ' : 'cd /; '
  const own = { own: { HOME: scratch }, none: {}, root: { HOME: '/' }, process: { HOME: '/proc/1' } }[home]
  const env = {
    PATH: process.env['PATH'],
    CALCFS_URL: url,
    CALCFS_USER: 'demo',
    CALCFS_PASSWORD: 'demo',
    ...own,
  }
  const shell = [...homes[home], 'sh', '-c', `${stand}${outputs[output]}exec "$@"`, 'sh', program, ...line]
  return new Promise<{ code: number; out: string; err: string }>(ended => {
    const child = execFile('/usr/bin/env', shell, { env, timeout: 60_000 }, (error, out, err) =>
      ended({
        code: error === null ? 0 : Number(error.code ?? -1),
        out,
        // The shell's own word about a directory that is gone.
        err: err.replace(/^.*getcwd.*\n/gm, ''),
      }),
    )
    child.stdin?.end()
  })
}

const enginesWords = /uv_|node:|ENOENT: |^\s+at |a fault of calcfs itself|A system error/m

t.test('CMD-14 every command ends with a sentence and an exit code wherever it is started', async t => {
  t.comment(`CALCFS_TEST_SEED=${seed}`)
  const commands = commandsBelow(await wholeProgram()).filter(
    ([path, command]) => command.commands.length === 0 && (!unending.test(path) || ends[path] !== undefined),
  )
  const pick = <One>(all: readonly One[]): One => all[draw(all.length)] as One
  const scratch = mkdtempSync(join(tmpdir(), 'calcfs-odd-'))
  const service = await testService(t)
  const urls = [service.url, 'http://127.0.0.1:9/rest']
  for (let one = 0; one < runs; one += 1) {
    const [path, command] = pick(commands)
    const home = pick(canBeStranger ? (['own', 'none', 'root', 'process'] as const) : (['own'] as const))
    const place: Place = {
      output: pick(['read', 'full', 'closed']),
      home,
      isGone: draw(2) === 0,
      scratch,
      url: pick(urls),
    }
    const line = [...path.split(' ').slice(1), ...words(command), ...(ends[path] ?? [])]
    await holds(t, line, place)
  }
  // Its sign-in cannot be kept.
  for (const line of [
    ['resolve', '/db/demo'],
    ['doctor', service.url],
  ])
    for (const home of canBeStranger ? (['root', 'process'] as const) : [])
      await holds(t, line, { output: 'read', home, isGone: false, scratch, url: service.url })
  for (const line of [['--help'], ['--version'], ['--version', '--json'], ['help', 'settings']])
    await holds(t, line, {
      output: pick(['full', 'closed']),
      home: 'own',
      isGone: draw(2) === 0,
      scratch,
      url: pick(urls),
    })
})

async function holds(t: Test, line: readonly string[], place: Place): Promise<void> {
  const { output, home, isGone } = place
  const { code, out, err } = await run(line, place)
  const name = `${line.join(' ')}, output ${output}, home ${home}${isGone ? ', standing nowhere' : ''}`
  t.notMatch(err, enginesWords, `${name}: no words of the engine`)
  t.ok(code >= 0 && code <= 7, `${name}: exit code ${code} of the table`)
  if (code !== 0 && code !== 7) t.match(err + (output === 'read' ? out : ''), /\S/, `${name}: it says why`)
  if (output === 'read' || code !== 0) return
  const { out: lost } = await run(line, { ...place, output: 'read' })
  t.equal(lost, '', `${name}: nothing was to be written`)
}

t.test('CMD-15 what a terminal would obey is escaped', async t => {
  const title = 'a\u001b]0;x\u0007b\u009b31mc\td\ne\u007f\r'
  const escaped = 'a\\u001b]0;x\\u0007b\\u009b31mc\td\ne\\u007f\\u000d'
  t.equal(visible(title), escaped)
  t.equal(JSON.parse(visible(JSON.stringify({ title }))).title, title, 'JSON stays the same JSON')
  t.equal(JSON.parse(visibleInJson(JSON.stringify({ title }))).title.replace('\\r', '\\u000d'), escaped)
})
