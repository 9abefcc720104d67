// Requests of many lines without a kernel that begin at once, in a few processes, for one folder of the lab.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Arena } from '../run/arena.js'
import { requestsRow } from './copies.js'
import type { LinesJob, LinesSaid } from './lines-child.js'
import type { FleetFlags } from './node.js'
import { requestsOf, type Say } from './rows.js'
import { type FleetSetting, withFleet, withLab } from './setting.js'

const processes = 4
const folder = '/projects/project-01'
const child = fileURLToPath(new URL('lines-child.js', import.meta.url))
const afterglow = 300
/** What lives for seconds runs out while so many lines share two processors; a job array would let it count for longer. */
const lifetimes = [
  { words: '', settings: {} },
  { words: ', answers count for an hour', settings: { ttlListing: '1h' } },
] as const

export async function measureLines(setting: FleetSetting, say: Say): Promise<void> {
  const { lines } = setting.sizes
  await withLab(setting, 0, async arena => {
    const alone = await readBy(setting, arena, 1)
    const one = requestsOf(alone.counts).data
    for (const { words, settings } of lifetimes) {
      const all = await withFleet(setting, ({ flags }) => readBy(setting, arena, lines, { flags, settings }))
      if (all.sums.length !== 1 || all.sums[0] !== alone.sums[0])
        throw new Error('the lines read other bytes')
      const what = `requests, ${lines} lines without a kernel, one project of the lab (${all.files} files), all at once${words}`
      const row = requestsRow(what, one, [all.counts], 1.05)
      const passes = all.passes.length === 0 ? '' : `; passed by ${all.passes.length} times: ${all.passes[0]}`
      say({ ...row, found: `${row.found}; ${all.seconds.toFixed(1)} s${passes}` })
    }
  })
}

interface LinesMore {
  readonly flags?: FleetFlags
  readonly settings?: Readonly<Record<string, string>>
}

/** So many lines read it once each, all at once. */
async function readBy({ workshop }: FleetSetting, arena: Arena, lines: number, more: LinesMore = {}) {
  const base = join(workshop.base, 'lines')
  mkdirSync(base, { recursive: true, mode: 0o700 })
  await arena.counts()
  const share = Math.ceil(lines / processes)
  const children: ChildProcess[] = []
  try {
    for (let first = 0; first < lines; first += share) {
      const count = Math.min(share, lines - first)
      const { flags, settings = {} } = more
      const shared = flags === undefined ? {} : { fleet: flags }
      const job: LinesJob = { url: arena.doors.rest, base, first, count, folder, settings, ...shared }
      children.push(fork(child, [JSON.stringify(job)]))
    }
    await Promise.all(children.map(one => saidBy(one, 'up')))
    const answers = children.map(one => saidBy(one, 'read'))
    for (const one of children) one.send('begin')
    const began = performance.now()
    const said = await Promise.all(answers)
    const seconds = (performance.now() - began) / 1_000
    await wait(afterglow)
    const failures = said.flatMap(one => one.failures)
    if (failures.length > 0) throw new Error(`${failures.length} lines failed: ${failures[0]}`)
    const sums = [...new Set(said.flatMap(one => one.sums))]
    const passes = said.flatMap(one => one.passedBy)
    return { counts: await arena.counts(), sums, files: said[0]?.files ?? 0, passes, seconds }
  } finally {
    for (const one of children) one.kill('SIGKILL')
    rmSync(base, { recursive: true, force: true })
  }
}

function saidBy<Is extends LinesSaid['is']>(
  child: ChildProcess,
  is: Is,
): Promise<Extract<LinesSaid, { is: Is }>> {
  return new Promise((resolve, reject) => {
    child.on('message', said => {
      const one = said as LinesSaid
      if (one.is === is) resolve(one as Extract<LinesSaid, { is: Is }>)
    })
    child.once('exit', code => reject(new Error(`a process of lines ended with ${code}`)))
  })
}
