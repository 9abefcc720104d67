// Copies on many mounts: how often the service is asked, how long the first one and a further one take, what Redis holds.
import { setTimeout as wait } from 'node:timers/promises'
import type { Counts } from '../origin/counts.js'
import { median } from '../processes/measure.js'
import type { Arena } from '../run/arena.js'
import type { Workload } from '../run/workloads.js'
import { type FleetFlags, mountNode } from './node.js'
import { type FleetRow, ratioRow, requestsOf, type Say, times } from './rows.js'
import { type FleetSetting, truthOf, withFleet, withLab, workOf } from './setting.js'

/** Milliseconds after a copy in which what was asked and put meanwhile arrives. */
const afterglow = 300

/**
 * Mounts one after another take longer than a record counts: with the lifetimes of answers as they are, and for data that
 * rest.
 */
const lifetimes = [
  { words: '', more: [] },
  { words: ', answers count for an hour', more: ['--ttl-listing', '1h'] },
]

interface Copied {
  /** Milliseconds by a clock that all copies share. */
  readonly began: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly counts: Counts
}

/** A mount that comes, copies and goes. */
interface Copy {
  readonly setting: FleetSetting
  readonly arena: Arena
  readonly work: Workload
  readonly truth: string
  readonly fleet?: FleetFlags
  readonly more?: readonly string[]
  /** Done before it goes. */
  readonly before?: () => Promise<void>
}

async function copy({ setting, arena, work, truth, fleet, more = [], before }: Copy): Promise<Copied> {
  await arena.counts()
  const node = await mountNode(setting.workshop, arena.doors.rest, { fleet, more })
  const began = performance.now()
  let seconds: number
  let cpuSeconds: number
  try {
    seconds = await node.work(work, truth)
    await wait(afterglow)
    cpuSeconds = await node.cpuSeconds()
    await before?.()
  } finally {
    await node.leave()
  }
  return { began, seconds, cpuSeconds, counts: await arena.counts() }
}

/** One mount without a fleet that copies at the moments at which others did: what lives no longer than that is asked for again there, too. */
async function copyAt(moments: readonly number[], { setting, arena, work, truth }: Copy): Promise<Counts> {
  await arena.counts()
  const node = await mountNode(setting.workshop, arena.doors.rest)
  const first = performance.now()
  try {
    for (const moment of moments) {
      await wait(Math.max(0, first + moment - (moments[0] ?? 0) - performance.now()))
      await node.work(work, truth)
    }
    await wait(afterglow)
  } finally {
    await node.leave()
  }
  return arena.counts()
}

/** Requests of many mounts one after another and all at once, and the memory of Redis. */
export async function measureRequests(setting: FleetSetting, say: Say): Promise<void> {
  const { nodes, copy: name } = setting.sizes
  const work = workOf(name)
  await withLab(setting, 0, async arena => {
    const truth = await truthOf(work, arena, setting.workshop)
    const alone = await copy({ setting, arena, work, truth })
    const one = requestsOf(alone.counts).data

    for (const { words, more } of lifetimes)
      await withFleet(setting, async fleet => {
        const empty = await fleet.usedBytes()
        let held = 0
        const shared = { setting, arena, work, truth, fleet: fleet.flags, more }
        const first = await copy({
          ...shared,
          before: async () => {
            held = (await fleet.usedBytes()) - empty
          },
        })
        const further: Copied[] = []
        for (let at = 1; at < nodes; at += 1) further.push(await copy(shared))
        const what = `requests, ${nodes} mounts, ${work.title}, one after another${words}`
        say(
          requestsRow(
            what,
            one,
            [first, ...further].map(({ counts }) => counts),
            1.02,
          ),
        )
        if (more.length === 0) {
          const moments = [first, ...further].map(({ began }) => began)
          const again = requestsOf(await copyAt(moments, { setting, arena, work, truth })).data
          const all = [first, ...further].map(({ counts }) => counts)
          say(
            requestsRow(
              `${what}; against one mount that copies as often, at the same moments`,
              again,
              all,
              1.02,
            ),
          )
        }
        say({ ...timesOf(first.seconds, further), what: `seconds of the further ${nodes - 1}, 0 ms${words}` })
        if (more.length > 0) return
        const served = first.counts.bytes
        const megabytes = `${(held / 1e6).toFixed(1)} MB for ${(served / 1e6).toFixed(1)} MB served`
        say(ratioRow('memory in Redis', megabytes, held / served, { most: 1.1 }))
      })

    await withFleet(setting, async fleet => {
      await arena.counts()
      const mounts = await Promise.all(
        Array.from({ length: nodes }, () =>
          mountNode(setting.workshop, arena.doors.rest, { fleet: fleet.flags }),
        ),
      )
      try {
        await Promise.all(mounts.map(node => node.work(work, truth)))
        await wait(afterglow)
      } finally {
        await Promise.all(mounts.map(node => node.leave()))
      }
      const what = `requests, ${nodes} mounts, ${work.title}, all at once`
      say(requestsRow(what, one, [await arena.counts()], 1.05))
    })
  })
}

export function requestsRow(what: string, one: number, counts: readonly Counts[], most: number): FleetRow {
  const asked = counts.map(requestsOf)
  const data = asked.reduce((sum, { data }) => sum + data, 0)
  const signIns = asked.reduce((sum, { signIns }) => sum + signIns, 0)
  return ratioRow(what, `${data} for ${one} of one mount; ${signIns} to sign in`, data / one, { most })
}

function timesOf(first: number, further: readonly Copied[]): Omit<FleetRow, 'what'> {
  const middle = median(further.map(({ seconds }) => seconds))
  return {
    found: `${middle.toFixed(2)} s for ${first.toFixed(2)} s of the first`,
    ratio: times(middle / first),
    target: '–',
    met: undefined,
  }
}

interface Round {
  readonly alone: Copied
  readonly first: Copied
  readonly further: Copied
}

/** The same copy without a fleet, as the first node, and as a further one, near by and 30 ms away. */
export async function measureTimes(setting: FleetSetting, say: Say): Promise<void> {
  const work = workOf('cp-part')
  const rounds = async (roundTrip: number): Promise<readonly Round[]> =>
    withLab(setting, roundTrip, async arena => {
      const truth = await truthOf(work, arena, setting.workshop)
      const done: Round[] = []
      for (let at = 0; at < setting.sizes.runs; at += 1)
        done.push(
          await withFleet(setting, async ({ flags }) => {
            const alone = () => copy({ setting, arena, work, truth })
            const shared = () => copy({ setting, arena, work, truth, fleet: flags })
            // Who comes first finds another machine than who comes next.
            if (at % 2 === 0) return { alone: await alone(), first: await shared(), further: await shared() }
            const [first, further] = [await shared(), await shared()]
            return { first, further, alone: await alone() }
          }),
        )
      return done
    })
  const [near, far] = [await rounds(0), await rounds(30)]
  const row = (
    what: string,
    [one, oneName]: readonly [readonly Round[], keyof Round],
    [other, otherName]: readonly [readonly Round[], keyof Round],
    target: Parameters<typeof ratioRow>[3],
  ): void => {
    const middles = (['seconds', 'cpuSeconds'] as const).map(figure => [
      median(one.map(round => round[oneName][figure])),
      median(other.map(round => round[otherName][figure])),
    ])
    const [[mine = 0, its = 1] = [], [cpu = 0, itsCpu = 0] = []] = middles
    const found = `${mine.toFixed(2)} s, ${its.toFixed(2)} s; processor ${cpu.toFixed(1)} s, ${itsCpu.toFixed(1)} s`
    say(ratioRow(`${work.title}: ${what}`, found, mine / its, target))
  }
  row('the first node 30 ms away, a further one', [far, 'first'], [far, 'further'], { least: 3 })
  row('a further node 30 ms away, without a fleet at 0 ms', [far, 'further'], [near, 'alone'], { most: 1.3 })
  row('the first node, without a fleet, 0 ms', [near, 'first'], [near, 'alone'], { most: 1.1 })
  row('the first node, without a fleet, 30 ms', [far, 'first'], [far, 'alone'], { most: 1.1 })
}
