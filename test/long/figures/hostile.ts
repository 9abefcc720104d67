// Hostile answers: every kind of odd HTTP at every door, on six mounts side by side that are remounted and asked again.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import pLimit, { type LimitFunction } from 'p-limit'
import { bareServer } from '../../testbed/machine/bare-http.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'
import { doors, isBody, type Plan, written } from '../hostile/case.js'
import { bodyKinds } from '../hostile/kinds-body.js'
import { headKinds } from '../hostile/kinds-head.js'
import { statusKinds } from '../hostile/kinds-status.js'
import { fast, playLife, type Stage } from '../hostile/life.js'
import { type Size, sizes, ways } from '../hostile/world.js'
import { scoped } from '../scope.js'

const kinds = [...statusKinds, ...headKinds, ...bodyKinds]
/** Cases between two starts of a daemon. */
const inOneLife = { cut: 10, full: 480 }
/** Daemons at once: one service of ours answers them all, and it must be in time itself. */
const mountsAtOnce = 3
/** No more than these are searched for: these need a look first. */
const wrongAtMost = 200

async function run(frame: Frame): Promise<void> {
  const growths: number[] = []
  await scoped(async scope => {
    const heard: string[] = []
    const { port, connections } = await bareServer(scope, ({ head }, socket) => {
      heard.push(head.slice(0, 200))
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad')
    })
    const elsewhere = `http://127.0.0.1:${port}`
    const { pick } = frame
    const chosen = frame.isFull ? ways : pick.shuffled(ways).slice(0, 1)
    const stages = chosen.map(way => ({ way, pick: pick.branch(), elsewhere, frame, growths }))
    const late = monitorEventLoopDelay()
    late.enable()
    const atOnce = pLimit(mountsAtOnce)
    await Promise.all(stages.map(stage => onOneWay(stage, atOnce)))
    frame.most('milliseconds our own service was late', late.percentile(99.9) / 1e6)
    frame.add('connections to another origin', connections())
    if (connections() > 0) frame.wrong.push(`another origin was asked: ${heard.join()}`)
  })
  // One life alone tells of the collector's moment; a leak is in each. Answers are kept up to their bound, which no life reaches.
  const median = [...growths].sort((one, other) => one - other)[growths.length >> 1]
  if (median === undefined) return
  frame.most('percent more memory after the second half, median of lives', median)
  if (median > 20) frame.short(`${Math.round(median)} % more memory after second halves`)
}

/** All of the matrix in an order of its own, then two kinds at a time for as long as there is time. */
async function onOneWay(stage: Stage, atOnce: LimitFunction): Promise<void> {
  const { frame, pick } = stage
  const only = process.env['CALCFS_LONG_CASE']
  const plans = plansIn(stage).filter(plan => only === undefined || written(plan).startsWith(only))
  const life = inOneLife[frame.order.scale]
  for (let from = 0; !frame.isOver(undefined, wrongAtMost); from += life) {
    const known = plans.slice(from, from + life)
    if (known.length === 0 && only !== undefined) return
    const some = known.length > 0 ? known : Array.from({ length: life }, () => composed(stage))
    const settings = pick.once(12) ? {} : fast
    await atOnce(() => playLife(stage, some, settings))
    frame.told()
  }
}

function plansIn({ way, pick, frame }: Stage): Plan[] {
  const all = doors.flatMap(door => {
    const large: readonly Size[] = isBody(door) ? ['3 kB', '300 kB', '20 MB'] : ['3 kB', '300 kB']
    const some: readonly Size[] = !frame.isFull ? ['3 kB'] : large
    return kinds.flatMap(kind => some.map(size => planOf(pick, { way, door, kinds: [kind], size })))
  })
  return pick.shuffled(all)
}

function composed({ way, pick, frame }: Stage): Plan {
  const door = pick.of(doors)
  const two = [pick.of(kinds), pick.of(kinds)]
  const all = Object.keys(sizes).filter((name): name is Size => name in sizes)
  const isSmall = !isBody(door) || !frame.isFull
  return planOf(pick, { way, door, kinds: two, size: isSmall ? '3 kB' : pick.of(all) })
}

const planOf = (pick: Chance, plan: Pick<Plan, 'way' | 'door' | 'kinds' | 'size'>): Plan => ({
  ...plan,
  times: pick.once(3) ? pick.whole(1, 2) : 1_000,
  headToo: pick.once(2),
  recordOf: pick.of(['project', 'calculation', 'report'] as const),
})

export const hostile: Figure = {
  name: 'hostile',
  goal: `hostile answers: ${kinds.length} kinds × {listing, record, size, content, xyz, login} × six ways of HEAD and Range × 3 kB, 300 kB, 20 MB, deadlines 1 s and default: ≥ 20,000 operations, 0 wrong bytes where two sources could tell, 0 hangs, 0 crashes, 0 bad bytes kept after a remount, 0 connections to another origin, descriptors back within 5 %, memory within 20 %`,
  least: { operations: 20_000 },
  counts: ['operations', 'right', 'refused', 'untellable lies', 'read again after a remount'],
  run,
}
