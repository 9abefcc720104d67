// Outages of six kinds: what is known is answered at once, what is not ends in time, and nothing keeps a user from leaving.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { certificate } from '../../remote/self-signed.js'
import { until as eventually } from '../../testbed/within.js'
import { type Chance, chance } from '../chance.js'
import { mistakesIn, openDrive } from '../drive.js'
import type { Figure, Frame, Result } from '../figure.js'
import { openOrigin } from '../hostile/origin.js'
import { openWorld, type World } from '../hostile/world.js'
import { openGate, type Trouble, troubles } from '../outage/gate.js'
import { scoped } from '../scope.js'
import { openSheet, type Sheet } from '../sheet.js'
import { readWhole, type Seen, timed } from '../timed.js'

const deadline = 2_000
const settings = {
  deadlineMetadata: '2s',
  deadlineRead: '2s',
  deadlineSave: '2s',
  ttlListing: '1s',
  ttlRecord: '500ms',
  ttlAbsent: '1s',
  logLevel: 'warn',
}
/** Milliseconds; a machine that runs all of the tests at the same time is given more. */
const limits = {
  full: { known: 50, unknown: deadline + 1_000, interrupt: 200, unmount: 2_000 },
  cut: { known: 2_000, unknown: deadline + 20_000, interrupt: 20_000, unmount: 20_000 },
}
/** Each question that is known is asked so often; its best time counts, for the machine does other things too. */
const tries = 3
const atOnce = 2

interface Run {
  readonly sheet: Sheet
  readonly limit: (typeof limits)['full']
  /** The errno, the time, or the difference that is wrong. */
  wrong(what: string): void
}

async function run({ seed, scale, until, say }: Frame): Promise<Result> {
  const sheet = openSheet('runs', 'known answers', 'unknown answers', 'in state D')
  const pick = chance(seed)
  const limit = limits[scale]
  let at = pick.whole(0, troubles.length - 1)
  const worker = async (): Promise<void> => {
    while (Date.now() < until && sheet.wrong.length < 50) {
      const trouble = troubles[at % troubles.length] ?? 'refused'
      at += 1
      const wrong = (what: string): void => void sheet.wrong.push(`${trouble}: ${what} (seed ${seed})`)
      await oneOutage(trouble, pick.branch(), { sheet, limit, wrong })
      if (at % 10 === 0) say(`${sheet.counted('runs')} runs, ${sheet.wrong.length} wrong`)
    }
  }
  await Promise.all(Array.from({ length: scale === 'full' ? atOnce : 1 }, worker))
  const result = sheet.result()
  const waited = result.counts['most milliseconds of Ctrl-C'] ?? 0
  // The kernel does not release a call that the daemon has taken, and the binding does not pass the interrupt on.
  return waited > limit.interrupt ? { ...result, short: `Ctrl-C took ${waited} ms` } : result
}

async function oneOutage(trouble: Trouble, pick: Chance, { sheet, limit, wrong }: Run): Promise<void> {
  await scoped(async scope => {
    const world = openWorld(pick.of(['both', 'head, no range', 'neither'] as const))
    const origin = await openOrigin(scope, asked => ({ answer: world.answer(asked), intercept: undefined }))
    const secure = trouble === 'certificate' || pick.once(3)
    const gate = await openGate(scope, Number(new URL(origin.url).port), secure)
    const url = `http${secure ? 's' : ''}://127.0.0.1:${gate.port}/create/rest`
    const drive = await openDrive(scope, url, settings, { started: false })
    if (secure) await fs.writeFile(join(drive.home, 'ca.pem'), certificate)
    await drive.start(secure ? { caFile: join(drive.home, 'ca.pem') } : {})
    const at = (path: string): string => join(drive.directory, path)
    world.resize('7', 'bytes', '300 kB')
    const known = questions(at, world)
    for (const { ask, name } of known) {
      let seen = await ask()
      for (let left = tries; left > 0 && seen.value !== true; left -= 1) seen = await ask()
      if (seen.value !== true) wrong(`${name} before the outage: ${seen.errno ?? 'not right'}`)
    }

    await gate.begin(trouble)
    // What was known is old by now; the first question that is not known finds out.
    await new Promise(wake => setTimeout(wake, 1_200))
    let next = 100
    const unknown = async (): Promise<void> => {
      next += 1
      const path = at(pick.of([`by-id/project/${next}`, `reports/${next}.json`, `by-id/calculation/${next}`]))
      const seen = await timed(limit.unknown + 20_000, ({ call }) => call(fs.stat(path)))
      sheet.add('unknown answers')
      sheet.most('milliseconds of an unknown answer', seen.slowest)
      if (seen.slowest > limit.unknown)
        wrong(`an unknown path ended after ${seen.slowest} ms with ${seen.errno}`)
      if (seen.errno === undefined || seen.errno === 'ENOENT')
        wrong(`an unknown path was ${seen.errno ?? 'there'}`)
    }
    // Ctrl-C is pressed while the silence is not detected yet: later no call waits.
    next += 1
    await interrupted(at(`by-id/project/${next}`), sheet)
    await unknown()
    await unknown()
    for (const { ask, name } of known) {
      let best = Number.POSITIVE_INFINITY
      for (let left = tries; left > 0; left -= 1) {
        const seen = await ask()
        best = Math.min(best, seen.slowest)
        sheet.add('known answers')
        if (seen.value !== true) wrong(`${name}, which was known: ${seen.errno ?? 'not right'}`)
      }
      sheet.most('milliseconds of a known answer', best)
      if (best > limit.known) wrong(`${name}, which was known, took ${best} ms at best`)
    }
    await interrupted(at(`by-id/project/${next + 50}`), sheet)

    if (pick.once(2)) {
      await gate.end()
      const isWell = async (): Promise<boolean> => {
        next += 1
        return (
          (await timed(30_000, ({ call }) => call(fs.stat(at(`by-id/project/${next}`))))).errno === undefined
        )
      }
      await eventually(30_000, 'well', isWell).catch(() => wrong('not well 30 s after the outage'))
    }
    for (const mistake of mistakesIn(await drive.log())) wrong(`logged ${mistake}`)
    const since = Date.now()
    const code = await drive.stop()
    sheet.most('milliseconds of an unmount', Date.now() - since)
    if (Date.now() - since > limit.unmount) wrong(`the unmount took ${Date.now() - since} ms`)
    if (code !== 0) wrong(`the daemon ended with ${code}`)
    const stuck = await inStateD(drive.home)
    sheet.add('in state D', stuck.length)
    for (const one of stuck) wrong(`in state D: ${one}`)
    sheet.add('runs')
  })
}

interface Question {
  readonly name: string
  ask(): Promise<Seen<boolean>>
}

function questions(at: (path: string) => string, world: World): readonly Question[] {
  const limit = 30_000
  return [
    {
      name: 'a listing',
      ask: () =>
        timed(limit, async ({ call }) => {
          const names = await call(fs.readdir(at('by-id/project/5')))
          return world.children('5').every(name => names.includes(name))
        }),
    },
    {
      name: 'a stat',
      ask: () => timed(limit, async ({ call }) => (await call(fs.stat(at('by-id/project/5')))).isDirectory()),
    },
    {
      name: 'a record',
      ask: () =>
        timed(limit, async calls =>
          (await readWhole(calls, at('reports/6.json'))).toString().includes('"t6"'),
        ),
    },
    {
      name: 'a content',
      ask: () =>
        timed(limit, async calls =>
          (await readWhole(calls, at('by-id/calculation/7/data.bin'))).equals(world.bytes('7', 'file')),
        ),
    },
  ]
}

/** How long Ctrl-C takes while a program waits for unknown data. */
async function interrupted(path: string, sheet: Sheet): Promise<void> {
  const program = spawn('ls', [path], { stdio: 'ignore' })
  const ended = once(program, 'exit')
  await new Promise(wake => setTimeout(wake, 300))
  if (program.exitCode !== null) return
  const since = Date.now()
  program.kill('SIGINT')
  await ended
  sheet.add('interrupted while waiting')
  sheet.most('milliseconds of Ctrl-C', Date.now() - since)
}

/** Processes of this drive that wait in the kernel and cannot be ended. */
async function inStateD(home: string): Promise<string[]> {
  const found: string[] = []
  for (const pid of await fs.readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    // One that has ended meanwhile waits for nothing.
    const read = (file: string): Promise<string> =>
      fs.readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
    const state = /^State:\s+(\S)/m.exec(await read('status'))?.[1]
    const command = await read('cmdline')
    if (state === 'D' && `${command}${await read('environ')}`.includes(home)) found.push(command)
  }
  return found
}

export const outage: Figure = {
  name: 'outage',
  goal: 'outages (refused, black hole, reset, 1 byte a second, HTML, certificate): known answered ≤ 50 ms, unknown within the deadline, Ctrl-C ≤ 200 ms, unmount ≤ 2 s, 200 runs, 0 in state D',
  least: { runs: 200 },
  run,
}
