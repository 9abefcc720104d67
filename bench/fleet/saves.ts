// A save on one mount, and when each of the others shows it.
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startService } from '../../src/service/service.js'
import { median } from '../processes/measure.js'
import { drawFrom, seed } from '../trees/seed.js'
import { type FleetFlags, mountNode } from './node.js'
import type { Say } from './rows.js'
import { type FleetSetting, withFleet } from './setting.js'

const mounts = 4
const reports = 12
const firstReport = 100
/** Milliseconds: what is not seen by then counts as that. */
const patience = 5_000
const [medianMost, most] = [100, 1_000]

export async function measureSaves(setting: FleetSetting, say: Say): Promise<void> {
  const service = await startService({ data: join(setting.workshop.base, `service-${randomUUID()}`) })
  try {
    service.seed.addUser({ name: 'demo', password: 'demo', passwordCost: 2 })
    for (let at = 0; at < reports; at += 1)
      service.seed.addReport({ id: String(firstReport + at), name: `r${at}`, owner: 'demo', title: 'First' })
    const seen = await withFleet(setting, ({ flags }) => sights(setting, service.url, flags))
    const longest = Math.max(...seen)
    const middle = median(seen)
    say({
      what: `a save on one of ${mounts} mounts seen on each other, ${setting.sizes.saves} saves (seed ${seed})`,
      found: `median ${middle.toFixed(0)} ms, longest ${longest.toFixed(0)} ms, n = ${seen.length}`,
      ratio: '–',
      target: `median ≤ ${medianMost} ms, all ≤ ${most / 1_000} s`,
      met: middle <= medianMost && longest <= most,
    })
  } finally {
    await service.close()
  }
}

/** Milliseconds from the end of each save until each other mount shows it. */
async function sights(
  { workshop, sizes }: FleetSetting,
  url: string,
  fleet: FleetFlags,
): Promise<readonly number[]> {
  const draw = drawFrom(seed)
  const nodes = await Promise.all(
    Array.from({ length: mounts }, () => mountNode(workshop, url, { fleet, access: 'edit' })),
  )
  const seen: number[] = []
  try {
    for (let save = 0; save < sizes.saves; save += 1) {
      const name = join('reports', `${firstReport + draw(0, reports - 1)}.json`)
      const files = nodes.map(({ root }) => join(root, name))
      // Every mount, and its kernel, knows the text before.
      const [before = ''] = await Promise.all(files.map(file => readFile(file, 'utf8')))
      await wait(draw(0, 200))
      const title = `Save ${save} ${draw(0, 1_000_000)}`
      const [writer] = files.splice(draw(0, files.length - 1), 1)
      if (writer === undefined) continue
      let ended = Number.POSITIVE_INFINITY
      const others = files.map(file => sight(file, title))
      await writeFile(writer, before.replace(/"title": "[^"]*"/, `"title": "${title}"`))
      ended = performance.now()
      seen.push(...(await Promise.all(others)).map(at => Math.max(0, at - ended)))
    }
  } finally {
    await Promise.all(nodes.map(node => node.leave()))
  }
  return seen
}

/** When the file shows it first, as `performance.now()` tells it. */
async function sight(file: string, title: string): Promise<number> {
  const limit = performance.now() + patience
  while (performance.now() < limit) {
    if ((await readFile(file, 'utf8')).includes(title)) break
    await wait(5)
  }
  return performance.now()
}
