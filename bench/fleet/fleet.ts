// The fleet's table: every row of its targets, measured side by side in one run.
import { type FleetRows, fleetRows, type Options } from '../plan/options.js'
import { table } from '../report/table.js'
import { measureRequests, measureTimes } from './copies.js'
import { measureGone } from './gone.js'
import { measureLines } from './lines.js'
import type { FleetRow, Say } from './rows.js'
import { measureSaves } from './saves.js'
import type { FleetSetting, FleetSizes } from './setting.js'

const parts: Readonly<Record<FleetRows, (setting: FleetSetting, say: Say) => Promise<void>>> = {
  requests: measureRequests,
  lines: measureLines,
  times: measureTimes,
  saves: measureSaves,
  gone: measureGone,
}

/** What is usual, and what is quick. */
const whole: FleetSizes = { nodes: 8, lines: 200, saves: 50, runs: 3, copy: 'cp' }
const quick: FleetSizes = { nodes: 4, lines: 24, saves: 10, runs: 1, copy: 'cp-part' }

/** Measures the rows, tells each as it comes, and answers all of them. */
export async function measureFleet(
  { sizes, quick: isQuick, runs }: Pick<Options, 'sizes' | 'quick' | 'runs'>,
  place: Omit<FleetSetting, 'sizes'>,
  say: Say,
): Promise<readonly FleetRow[]> {
  const { rows: names = fleetRows, ...wished } = sizes
  const setting = { ...place, sizes: { ...(isQuick ? quick : { ...whole, runs }), ...wished } }
  const rows: FleetRow[] = []
  for (const name of names) {
    if (place.workshop.stopped) break
    await parts[name](setting, row => {
      rows.push(row)
      say(row)
    })
  }
  return rows
}

const verdict = ({ met }: FleetRow): string => (met === undefined ? '–' : met ? 'met' : 'missed')

/** A line for the terminal. */
export const fleetLine = (row: FleetRow): string =>
  `${row.what}: ${row.ratio} (${row.found}; ${row.target}): ${verdict(row)}`

export const fleetTable = (rows: readonly FleetRow[]): string =>
  table(
    ['fleet', 'ratio', 'target', 'verdict', 'figures'],
    rows.map(row => [row.what, row.ratio, row.target, verdict(row), row.found]),
  )
