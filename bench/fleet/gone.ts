// A fleet that goes while all mounts read: what fails, and the longest call, next to the same run in which it stays.
import { fork } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Arena } from '../run/arena.js'
import { drawFrom, seed } from '../trees/seed.js'
import { mountNode } from './node.js'
import type { ReaderFound, ReaderJob } from './reader-child.js'
import type { Say } from './rows.js'
import { type FleetSetting, withFleet, withLab } from './setting.js'

const child = fileURLToPath(new URL('reader-child.js', import.meta.url))
/** Seconds that the readers take, and after which the server goes; what is slow before is no matter of it. */
const seconds = 10
const goesAfter = 4
/** Milliseconds between two files of a reader: eight of them leave two cores idle in between. */
const pace = 150
const most = 100

type End = 'SIGKILL' | 'SIGSTOP' | undefined

export async function measureGone(setting: FleetSetting, say: Say): Promise<void> {
  await withLab(setting, 0, async arena => {
    const undisturbed = await readersWith(setting, arena, undefined)
    for (const [end, words] of [
      ['SIGKILL', 'killed'],
      ['SIGSTOP', 'stopped'],
    ] as const) {
      const { longest, failures, calls } = await readersWith(setting, arena, end)
      const here = `${longest.milliseconds.toFixed(0)} ms (${longest.call.split(' ')[0]} after ${(longest.after / 1_000).toFixed(1)} s)`
      const there = undisturbed.longest.milliseconds
      say({
        what: `Redis ${words} while ${setting.sizes.nodes} mounts read: longest call, errnos`,
        found: `${here}, undisturbed ${there.toFixed(0)} ms; ${failures.length} errnos in ${calls} calls`,
        ratio: (longest.milliseconds / there).toFixed(2),
        target: `no errno, no pause > ${most} ms, or than undisturbed`,
        met: failures.length === 0 && longest.milliseconds <= Math.max(most, there),
      })
      for (const failure of failures.slice(0, 3)) console.log(failure)
    }
  })
}

/** The longest call of all readers, and everything that failed. */
async function readersWith(setting: FleetSetting, arena: Arena, end: End): Promise<ReaderFound> {
  const { nodes } = setting.sizes
  return withFleet(setting, async fleet => {
    const mounts = await Promise.all(
      Array.from({ length: nodes }, () =>
        mountNode(setting.workshop, arena.doors.rest, { fleet: fleet.flags }),
      ),
    )
    try {
      const draw = drawFrom(seed)
      const readers = mounts.map(({ root }) =>
        read({ root: `${root}/projects`, seed: draw(0, 1_000_000), seconds, from: goesAfter, pace }),
      )
      await wait(goesAfter * 1_000)
      if (end !== undefined) fleet.signal(end)
      const found = await Promise.all(readers)
      const [first] = [...found].sort((one, other) => other.longest.milliseconds - one.longest.milliseconds)
      if (first === undefined) throw new Error('there is no mount to read')
      return {
        longest: first.longest,
        calls: found.reduce((sum, { calls }) => sum + calls, 0),
        failures: found.flatMap(({ failures }) => failures),
      }
    } finally {
      await Promise.all(mounts.map(node => node.leave()))
    }
  })
}

function read(job: ReaderJob): Promise<ReaderFound> {
  const reader = fork(child, [JSON.stringify(job)])
  return new Promise((resolve, reject) => {
    reader.once('message', found => resolve(found as ReaderFound))
    reader.once('exit', code => reject(new Error(`a reader ended with ${code}`)))
  })
}
