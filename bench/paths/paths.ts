// `npm run bench -- --paths`: modules, calls, promises and bytes of the five hot paths, and of raw undici, over the bundled service.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { type At, Calls, rootNode } from './calls.js'
import { type Cost, type Meter, openMeter } from './cost.js'
import { type Line, openLine } from './line.js'
import { questionsTo } from './questions.js'

const program = fileURLToPath(new URL('../../../bin/calcfs', import.meta.url))

/** Work in the background ends, and the last lines of the service's log arrive. */
const settled = (): Promise<void> => new Promise(wake => setTimeout(wake, 500))

/** The bundled service with its sample, as a process of its own, and how many requests it has heard. */
async function startService(home: string) {
  const args = ['serve', '--sample', '--port', '0', '--data', join(home, 'service'), '--access-log', '-']
  const service = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HOME: home },
  })
  let heard = 0
  const url = await new Promise<string>((found, failed) => {
    service.once('exit', code => failed(new Error(`calcfs serve ended with ${code}`)))
    createInterface({ input: service.stdout }).on('line', line => {
      if (line.startsWith('{')) heard += 1
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
      if (address !== undefined && !line.startsWith('{')) found(address)
    })
  })
  return {
    url,
    heard: () => heard,
    async stop() {
      const ended = once(service, 'exit')
      service.kill('SIGTERM')
      await ended
    },
  }
}

/** A calculation of the sample with a short file, and a report. */
interface Sample {
  readonly folder: At
  readonly file: At
  readonly report: At
}

async function sampleOn(calls: Calls): Promise<Sample> {
  const folder = await calculationBelow(calls, await calls.lookup(rootNode, 'projects'))
  const file = (await shownIn(calls, folder)).find(name => !name.endsWith('.xyz'))
  if (file === undefined) throw new Error(`${folder.name} has no file`)
  return {
    folder,
    file: await calls.lookup(folder.node, file),
    report: await reportOn(calls),
  }
}

const shownIn = async (calls: Calls, directory: At): Promise<readonly string[]> =>
  (await calls.readdir(directory)).filter(name => !name.startsWith('.'))

/** The first calculation on the way down. */
async function calculationBelow(calls: Calls, directory: At): Promise<At> {
  const names = await calls.readdir(directory)
  if (names.includes('.calculation.json')) return directory
  const [first] = await shownIn(calls, directory)
  if (first === undefined) throw new Error(`${directory.name} holds nothing`)
  return calculationBelow(calls, await calls.lookup(directory.node, first))
}

/** A report is found by its number alone. */
async function reportOn(calls: Calls): Promise<At> {
  const reports = await calls.lookup(rootNode, 'reports')
  for (let id = 1; id <= 99; id += 1) {
    const found = await calls.lookup(reports.node, `${id}.json`).catch(() => undefined)
    if (found !== undefined) return found
  }
  throw new Error('the sample has no report below 100')
}

/** How often a path that can be taken again is counted; the fewest calls count. */
const warmCounts = 4

interface Row {
  readonly what: string
  readonly cost: Cost
  readonly requests: number
  /** Undefined where the work can be done only once. */
  readonly bytes?: number
}

async function measureLine(
  { drive, activity, remote }: Line,
  meter: Meter,
  heard: () => number,
): Promise<readonly Row[]> {
  const calls = new Calls(drive, activity)
  const { folder, file, report } = await sampleOn(calls)
  const { length } = await calls.readWhole(report)
  const rows: Row[] = []
  async function row(what: string, work: () => Promise<unknown>, repeats: boolean): Promise<void> {
    rows.push(await counted(what, work, repeats))
  }
  async function counted(what: string, work: () => Promise<unknown>, repeats: boolean): Promise<Row> {
    await settled()
    const before = heard()
    const counts: Cost[] = []
    // A warm path is what the second and each later call takes; what else goes on adds to a count.
    for (let run = 0; run < (repeats ? warmCounts : 1); run += 1) counts.push(await meter.count(work))
    const cost = counts.reduce((least, count) => (count.calls < least.calls ? count : least))
    await settled()
    const requests = heard() - before
    return { what, cost, requests, ...(repeats ? { bytes: await meter.bytes(work) } : {}) }
  }
  /** The text is a new node after each save. */
  async function save(): Promise<Row> {
    const report = await reportOn(calls)
    const text = (await calls.readWhole(report)).toString()
    const edited = Buffer.from(text.replace(/"(title|name|description)": "([^"]*)"/, '"$1": "$2 x"'))
    return counted(`save of a report of ${length} bytes`, () => calls.overwrite(report, edited), false)
  }
  // The first of its folder: nothing is fetched beside it.
  await row('open, read, close of a new file', () => calls.readWhole(file), false)
  // What is asked ahead for the others of the folder is none of the rows below.
  for (const look of [folder, file].map(at => calls.look(at))) await look()
  await row('warm stat of a folder', calls.look(folder), true)
  await row('warm stat of a file', calls.look(file), true)
  await row('open, read, close of a kept file', () => calls.readWhole(file), true)
  // A question that a busy machine answers late is sent twice: the fewest requests count, and of these the fewest calls.
  const saves = [await save(), await save(), await save()]
  saves.sort((one, other) => one.requests - other.requests || one.cost.calls - other.cost.calls)
  rows.push(...saves.slice(0, 1))
  for (const [what, ask] of Object.entries(await questionsTo(remote))) await row(what, ask, true)
  return rows
}

/** Raw undici: one GET with its body, nothing kept. */
async function measureUndici(meter: Meter, url: string): Promise<Row> {
  const login = await request(`${url}/create/rest/login`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}` },
  })
  const token = await login.body.text()
  const dispatcher = new Agent({ connections: 1 })
  const get = async (): Promise<unknown> => {
    const { body } = await request(`${url}/create/rest/user/info`, {
      dispatcher,
      headers: { authorization: `Bearer ${token}` },
    })
    return body.arrayBuffer()
  }
  await get()
  const cost = await meter.count(get)
  await dispatcher.close()
  return { what: 'raw undici, one GET', cost, requests: 1 }
}

/** A table in Markdown. */
function table(rows: readonly Row[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
  return [
    line(['path', 'modules', 'calls', 'promises', 'bytes', 'requests']),
    '|---|---|---|---|---|---|',
    ...rows.map(({ what, cost, requests, bytes }) =>
      line([what, cost.modules, cost.calls, cost.promises, bytes ?? '', requests]),
    ),
  ].join('\n')
}

/** Measures each path once over a fresh service and prints the table. */
export async function measurePaths(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'calcfs-paths-'))
  const service = await startService(home)
  try {
    const meter = await openMeter()
    const line = await openLine({ home, settings: { url: service.url, access: 'edit' } })
    const rows = [...(await measureLine(line, meter, service.heard)), await measureUndici(meter, service.url)]
    meter.end()
    await line.drive.close()
    console.log(table(rows))
  } finally {
    await service.stop()
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

await measurePaths()
