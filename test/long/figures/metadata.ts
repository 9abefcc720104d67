// Hostile metadata: odd listings and records on a real mount; the good shown, the bad reported, memory bounded.
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { chance } from '../chance.js'
import { type Drive, mistakesIn, openDrive } from '../drive.js'
import type { Figure, Frame, Result } from '../figure.js'
import { type Answer, said } from '../hostile/answer.js'
import { type Asked, openOrigin } from '../hostile/origin.js'
import { type Scenario, scenarioTable } from '../metadata/scenarios.js'
import { scoped } from '../scope.js'
import { openSheet, type Sheet } from '../sheet.js'
import { readWhole, type Seen, timed } from '../timed.js'

const limit = 90_000
/** A listing that needs longer than the deadline goes on behind it. */
const tries = 6
const mostMegabytes = 256
const inOneLife = 60
const ours = new Set(['.project.json', '.index.tsv', '.shares'])

async function run(frame: Frame): Promise<Result> {
  const sheet = openSheet('scenarios', 'good names shown', 'odd listings told', 'refused in words')
  const only = process.env['CALCFS_LONG_CASE']
  const pick = chance(frame.seed)
  const all = pick.shuffled(scenarioTable()).filter(make => {
    const { name, isHuge } = make('7')
    return only === undefined ? frame.scale === 'full' || !isHuge : name === only
  })
  for (let from = 0; from < all.length && Date.now() < frame.until; from += inOneLife) {
    await oneLife(all.slice(from, from + inOneLife), frame, sheet)
    frame.say(`${sheet.counted('scenarios')} scenarios, ${sheet.wrong.length} wrong`)
  }
  return sheet.result()
}

async function oneLife(
  makers: readonly ((of: string) => Scenario)[],
  frame: Frame,
  sheet: Sheet,
): Promise<void> {
  await scoped(async scope => {
    const scenarios = new Map<string, Scenario>()
    const origin = await openOrigin(scope, asked => ({
      answer: answerOf(asked, scenarios),
      intercept: undefined,
    }))
    const drive = await openDrive(scope, origin.url, { logLevel: 'info' })
    let number = 1_000
    let highest = { bytes: 0, of: '' }
    for (const make of makers) {
      if (Date.now() > frame.until) break
      number += 1
      const of = String(number)
      const scenario = make(of)
      scenarios.clear()
      scenarios.set(of, scenario)
      const wrong = (what: string): void =>
        void sheet.wrong.push(`${what}: CALCFS_LONG_CASE="${scenario.name}" (seed ${frame.seed})`)
      await play(drive, of, scenario, { sheet, wrong })
      sheet.add('scenarios')
      const bytes = drive.alive ? await drive.peakMemory() : 0
      if (bytes > highest.bytes) highest = { bytes, of: scenario.name }
      if (!drive.alive) return wrong(`the daemon died: ${(await drive.log()).slice(-300)}`)
    }
    for (const mistake of mistakesIn(await drive.log()))
      sheet.wrong.push(`logged ${mistake} (seed ${frame.seed})`)
    const memory = highest.bytes / 2 ** 20
    sheet.most('MB of memory', memory)
    // On a busy machine the collector comes late; the cut is no place to measure by the megabyte.
    if (memory > mostMegabytes * (frame.scale === 'cut' ? 1.2 : 1)) {
      const names = makers.map(make => make('7').name).join(', ')
      sheet.wrong.push(
        `${Math.round(memory)} MB of memory in "${highest.of}", in the life of: ${names.slice(0, 3_000)} (seed ${frame.seed})`,
      )
    }
  })
}

function answerOf({ path, query }: Asked, scenarios: ReadonlyMap<string, Scenario>): Answer {
  const id = query.get('id') ?? ''
  const scenario = scenarios.get(id)
  const plain = said(200, `{"id":${id},"name":"n${id}"}`)
  switch (path) {
    case '/login':
      return said(200, 'token', 'text/plain')
    case '/user/info':
      return said(200, '{"username":"demo"}')
    case '/project':
    case '/calculation':
      return plain
    case '/report':
      return scenario === undefined ? plain : said(200, scenario.texts.report)
    case '/project/descendant':
      return said(
        200,
        (query.get('type') === 'project' ? scenario?.texts.projects : scenario?.texts.calculations) ?? '[]',
      )
    case '/project/share':
      return said(200, scenario?.texts.shares ?? '[]')
    case '/calculation/files':
      return said(200, query.get('type') === 'cml' ? '[]' : (scenario?.texts.files ?? '[]'))
    case '/calculation/files/bitstream':
      return said(200, `bytes of ${id}`, 'application/octet-stream')
    default:
      return { ...said(404, '{}'), reason: 'Not Found' }
  }
}

interface Judge {
  readonly sheet: Sheet
  wrong(what: string): void
}

async function play(drive: Drive, of: string, scenario: Scenario, judge: Judge): Promise<void> {
  const folder = join(drive.directory, 'by-id/project', of)
  const logged = (await drive.log()).length
  let listing: Seen<string[]> = await timed(limit, ({ call }) => call(fs.readdir(folder)))
  for (let left = tries; left > 0 && listing.errno === 'ETIMEDOUT'; left -= 1)
    listing = await timed(limit, ({ call }) => call(fs.readdir(folder)))
  await judgeListing(drive, { folder, listing, scenario, logged }, judge)
  await judgeRest(drive, of, scenario, judge)
}

async function judgeListing(
  drive: Drive,
  {
    folder,
    listing,
    scenario,
    logged,
  }: { folder: string; listing: Seen<string[]>; scenario: Scenario; logged: number },
  { sheet, wrong }: Judge,
): Promise<void> {
  if (listing.hung) return wrong(`the listing hung for ${listing.slowest} ms`)
  if (listing.value === undefined) {
    if (!scenario.mayRefuse) wrong(`the listing was refused with ${listing.errno}`)
    const why = await drive.calcfs('why', folder)
    if (why.stdout.trim().split(/\s+/).length < 5) wrong(`refused without words: ${why.stdout}${why.stderr}`)
    return sheet.add('refused in words')
  }
  const shown = new Set(listing.value)
  for (const { name, id, kind } of scenario.good) {
    if (!shown.has(name)) {
      wrong(`"${name}" is not shown among ${shown.size}`)
      continue
    }
    const path = join(folder, name, kind === 'project' ? '.project.json' : '.calculation.json')
    const record = await timed(limit, calls => readWhole(calls, path))
    if (record.value?.includes(`"id": ${id}`) === true) sheet.add('good names shown')
    else wrong(`"${name}" has the record ${record.errno ?? record.value?.toString().slice(0, 80)}`)
  }
  if (scenario.isHarmless) return
  // The name of the odd item does not matter: it is shown and enters, or it was left out and reported.
  const isShown = [...shown].some(name => !ours.has(name) && !scenario.good.some(good => good.name === name))
  const log = await drive.log()
  const isTold = log.length > logged || isToldLately(log)
  if (isTold) sheet.add('odd listings told')
  else if (!isShown) wrong('the odd one is not shown, and nothing tells of it')
}

/** What is as odd as the one before has its line once a minute (LOG-5). */
function isToldLately(log: string): boolean {
  const told = log.split('\n').findLast(line => line.includes('"happened":'))
  return told !== undefined && Date.now() - JSON.parse(told).time < 61_000
}

/** Files, shares and the report. */
async function judgeRest(drive: Drive, of: string, scenario: Scenario, { wrong }: Judge): Promise<void> {
  const at = (path: string): string => join(drive.directory, path)
  const { name } = scenario
  if (name.startsWith('files: ')) {
    const names = await timed(limit, ({ call }) => call(fs.readdir(at(`by-id/calculation/${of}`))))
    const file = await timed(limit, calls => readWhole(calls, at(`by-id/calculation/${of}/good.txt`)))
    if (names.value?.includes('good.txt') !== true) wrong(`good.txt is not listed: ${names.errno}`)
    if (file.value?.toString() !== `bytes of ${of}`)
      wrong(`good.txt ends with ${file.errno ?? 'other bytes'}`)
  }
  if (name.startsWith('shares: ')) {
    const names = await timed(limit, ({ call }) => call(fs.readdir(at(`by-id/project/${of}/.shares`))))
    if (names.value?.includes('900.json') !== true)
      wrong(`the good share is not shown: ${names.errno ?? names.value}`)
  }
  if (name.startsWith('a record: ')) {
    for (const path of [`reports/${of}.json`, `reports/${of}`, `reports/${of}/order.txt`]) {
      const seen = await timed(limit, async calls => {
        const { isDirectory } = await calls.call(fs.stat(at(path)))
        return isDirectory
      })
      if (seen.hung) wrong(`${path} hung for ${seen.slowest} ms`)
    }
    const read = await timed(limit, calls => readWhole(calls, at(`reports/${of}.json`)))
    if (read.hung) wrong(`reading the record hung for ${read.slowest} ms`)
  }
}

export const metadata: Figure = {
  name: 'metadata',
  goal: `hostile metadata: ≥ 250 scenarios of listings and records: the good shown, the bad told, memory ≤ ${mostMegabytes} MB, 1,000,000 entries listed or refused in words`,
  least: { scenarios: 250 },
  run,
}
