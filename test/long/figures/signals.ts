// Signals: a program is sent one at a random moment of a call; it ends, nothing is stored twice, and the next call is right.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { run as ran } from '../../testbed/programs.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { within } from '../../testbed/within.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGKILL'] as const
const others = ['SIGURG', 'SIGWINCH', 'SIGCHLD'] as const
/** Milliseconds for which the service keeps an answer back, and after which the signal comes. */
const [slowest, latest] = [60, 220]
/** Milliseconds for a program to end: a change waits for its answer. */
const endLimit = 30_000
const settings = { access: 'manage', ttlListing: '300ms' }
const water = 'projects/Water splitting'
/** Writes one text with one call over what is there. */
const save = `open(my $f, '+<', $ARGV[0]) or die "$!"; local $/; my $t = <$f>; seek($f, 0, 0);
  $t =~ s/"description": "[^"]*"/"description": "$ARGV[1]"/; syswrite($f, $t); close($f) or die "$!"`

interface Draw {
  readonly at: number
  readonly root: string
  readonly local: string
}

/** What a program does, and whether what the service has and what the drive shows afterwards may be. */
interface Verb {
  readonly prepare?: (draw: Draw, testbed: MountTestbed) => void
  readonly command: (draw: Draw) => readonly [string, ...string[]]
  readonly check?: (draw: Draw, testbed: MountTestbed, code: number | null) => Promise<string | undefined>
}

const projectOf = ({ at }: Draw): string => `S${at}`
const movedBetween = ({ at }: Draw): readonly [string, string] => (at % 2 === 0 ? ['A', 'B'] : ['B', 'A'])

async function names(testbed: MountTestbed): Promise<readonly string[]> {
  const query = `id=${ids.water}&type=project&depth=1`
  const listed = JSON.parse(await testbed.service.elsewhere('GET', `/project/descendant?${query}`))
  return listed.map(({ name }: { name: string }) => name)
}

async function sameNames(testbed: MountTestbed, name: string, done: boolean): Promise<string | undefined> {
  const stored = (await names(testbed)).filter(one => one === name).length
  const shown = (await ran('stat', [join(testbed.directory, water, name)])).code === 0
  if (stored > 1) return `${name} is stored ${stored} times`
  if (done && stored === 0) return `${name} was made, and is not stored`
  return shown === (stored === 1)
    ? undefined
    : `${name} is ${shown ? 'shown, and' : 'not shown, but'} stored ${stored} times`
}

const reportText = async ({ service }: MountTestbed): Promise<string> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`)).description

const verbs: Readonly<Record<string, Verb>> = {
  stat: { command: ({ root, at }) => ['stat', `${root}/by-id/calculation/${900_000 + at}`] },
  ls: { command: ({ root }) => ['ls', '-lR', `${root}/projects/Water splitting`] },
  cat: { command: ({ root }) => ['cat', `${root}/reports/${ids.report}.json`] },
  find: { command: ({ root }) => ['find', `${root}/projects`, '-newer', '/etc/passwd'] },
  cp: {
    command: ({ root, local, at }) => ['cp', '-r', `${root}/projects/Water splitting`, `${local}/${at}`],
  },
  open: {
    command: ({ root }) => [
      'perl',
      '-e',
      'open(my $f, "<", $ARGV[0]) or die "$!"',
      `${root}/${water}/TS1_opt/run.log`,
    ],
  },
  rm: {
    prepare: ({ at }, { service }) =>
      void service.seed.addReport({ id: `${7_000 + at}`, name: 'R', title: 'R', owner: 'demo' }),
    command: ({ root, at }) => ['rm', `${root}/reports/${7_000 + at}.json`],
    async check({ root, at }, _, code) {
      const shown = (await ran('stat', [`${root}/reports/${7_000 + at}.json`])).code === 0
      return code === 0 && shown ? 'what was removed is shown' : undefined
    },
  },
  mkdir: {
    command: draw => ['mkdir', `${draw.root}/${water}/${projectOf(draw)}`],
    check: (draw, testbed, code) => sameNames(testbed, projectOf(draw), code === 0),
  },
  rename: {
    command: draw => [
      'mv',
      '-T',
      `${draw.root}/${water}/${movedBetween(draw)[0]}`,
      `${draw.root}/${water}/${movedBetween(draw)[1]}`,
    ],
    async check(_, testbed) {
      for (const name of ['A', 'B']) {
        const wrong = await sameNames(testbed, name, false)
        if (wrong !== undefined) return wrong
      }
      const one = (await names(testbed)).filter(name => name === 'A' || name === 'B')
      return one.length === 1 ? undefined : `after a rename there are ${one.join(' and ') || 'none'}`
    },
  },
  save: {
    command: ({ root, at }) => ['perl', '-e', save, `${root}/reports/${ids.report}.json`, `edit ${at}`],
    async check({ root, at }, testbed, code) {
      const stored = await reportText(testbed)
      const shown = (await ran('cat', [`${root}/reports/${ids.report}.json`])).stdout
      if (code === 0 && stored !== `edit ${at}`) return `edit ${at} was saved, and ${stored} is stored`
      return shown.includes(`"${stored}"`) ? undefined : `${stored} is stored, and another text is shown`
    },
  },
}

async function drawn(testbed: MountTestbed, pick: Chance, at: number): Promise<string | undefined> {
  const { service } = testbed
  const draw = { at, root: testbed.directory, local: testbed.local }
  const [name, verb] = pick.of(Object.entries(verbs))
  const signal = pick.once(4) ? pick.of(others) : pick.of(ending)
  const pause = pick.whole(0, latest)
  verb.prepare?.(draw, testbed)
  const undo = service.intercept(/./, async (_, { carryOut }) => {
    await wait(pick.whole(0, slowest))
    const passOn = await carryOut()
    await wait(pick.whole(0, slowest))
    passOn()
  })
  const [program, ...args] = verb.command(draw)
  const before = service.heard.length
  const child = spawn(program, args, { stdio: 'ignore' })
  const exit = once(child, 'exit')
  await wait(pause)
  child.kill(signal)
  const what = `${name}, ${signal} after ${pause} ms`
  try {
    const [code] = await within(endLimit, what, exit)
    undo()
    // A DELETE comes when its burst is over, perhaps beside the next draw.
    const sent = writes(service.heard.slice(before)).filter(line => !/login|^DELETE/.test(line))
    if (sent.length > 1) return `${what}: ${sent.join(', ')}`
    const wrong = await verb.check?.(draw, testbed, code)
    const next = await ran('ls', [`${testbed.directory}/projects`])
    return wrong ?? (next.code === 0 ? undefined : `${what}: then ls failed with ${next.stderr}`)
  } catch (thrown) {
    return `${what}: ${thrown instanceof Error ? thrown.message : thrown}`
  } finally {
    undo()
    child.kill('SIGKILL')
  }
}

async function run(frame: Frame): Promise<void> {
  let draws = 0
  await frame.onGrounds(
    async (scope, _, own) => {
      const testbed = await realMount(scope, {
        settings,
        adds: seed => seed.addProject({ id: '950', name: 'A', owner: 'demo', parent: ids.water }),
      })
      return async () => {
        const at = draws++
        frame.add('draws')
        if (at % 200 === 199) frame.told()
        const found = await drawn(testbed, own.branch(), at)
        return found === undefined ? [] : [`draw ${at}: ${found}`]
      }
    },
    { cases: 500, lanes: 4, least: frame.isFull ? 0 : 60 },
  )
}

export const signals: Figure = {
  name: 'signals',
  goal: 'a signal at any moment of a call: 2,000 draws, every program ends, nothing is stored twice, the next call is right',
  least: { draws: 2_000 },
  run,
}
