// Names: every title becomes a name of its own that leads to its thing, and the name, written elsewhere, becomes the title again.
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { type Chance, chance } from '../chance.js'
import { type Drive, mistakesIn, openDrive } from '../drive.js'
import type { Figure, Frame, Result } from '../figure.js'
import { said } from '../hostile/answer.js'
import { openOrigin } from '../hostile/origin.js'
import { anyTitle } from '../names/titles.js'
import { bytesOf, type NamesWorld, openNamesWorld } from '../names/world.js'
import { scoped } from '../scope.js'
import { openSheet, type Sheet } from '../sheet.js'
import { readWhole, type Seen, timed } from '../timed.js'

const limit = 60_000
const inOneFolder = { cut: 40, full: 120 }
const ours = /^\.(project\.json|calculation\.json|index\.tsv|shares)$/
/** Files that are made by calcfs are asked for by no name of the service. */
const unaskable = /[\ud800-\udfff]/u

interface Scene {
  readonly drive: Drive
  readonly world: NamesWorld
  readonly pick: Chance
  readonly sheet: Sheet
  readonly seed: number
}

async function run(frame: Frame): Promise<Result> {
  const sheet = openSheet(
    'names',
    'listed and found',
    'written and stored',
    'refused as reserved',
    'found again after a remount',
  )
  const pick = chance(frame.seed)
  await scoped(async scope => {
    const world = openNamesWorld()
    const origin = await openOrigin(scope, asked => ({
      answer: world.answer(asked) ?? said(404, ''),
      intercept: undefined,
    }))
    const drive = await openDrive(scope, origin.url, { ttlListing: '1s' })
    const scene = { drive, world, pick, sheet, seed: frame.seed }
    while (Date.now() < frame.until && sheet.wrong.length < 50) {
      await oneFolder(scene, inOneFolder[frame.scale])
      frame.say(`${sheet.counted('names')} names`)
    }
    for (const mistake of mistakesIn(await drive.log()))
      sheet.wrong.push(`logged ${mistake} (seed ${frame.seed})`)
  })
  return sheet.result()
}

/** A project full of titles: there, over a remount now and then, and back. */
async function oneFolder(scene: Scene, count: number): Promise<void> {
  const { world, pick, sheet, drive } = scene
  const parent = world.add({ kind: 'project', parent: '1', name: 'there' })
  const titles = Array.from({ length: count }, () => anyTitle(pick))
  if (pick.once(2)) titles.push(...titles.slice(0, 5))
  const ids = new Map(
    titles.map(name => [
      world.add({ kind: pick.of(['project', 'calculation'] as const), parent, name }),
      name,
    ]),
  )
  const files = [...new Set(titles)].filter(title => title !== '' && pick.once(3))
  const holder = world.add({ kind: 'calculation', parent, name: 'holder', files })
  ids.set(holder, 'holder')
  const folder = join(drive.directory, `by-id/project/${parent}`)

  const first = await listed(folder, scene)
  const found = await idsOf(folder, first, scene)
  sheet.add('names', titles.length + files.length)
  for (const [id, title] of ids) {
    const names = found.filter(one => one.id === id)
    if (names.length === 1 && names[0]?.title === title) sheet.add('listed and found')
    else
      wrong(
        scene,
        title,
        `is found under ${names.length} names: ${names.map(({ name }) => name)} ${names[0]?.title}`,
      )
  }
  await lookAtFiles(join(drive.directory, `by-id/calculation/${holder}`), files, scene)
  if (pick.once(5)) {
    await drive.stop()
    await drive.start()
    const again = await listed(folder, scene)
    if (JSON.stringify(again.sort()) === JSON.stringify(first.sort()))
      sheet.add('found again after a remount', again.length)
    else
      wrong(scene, 'all', `have other names after a remount: ${again.filter(name => !first.includes(name))}`)
  }
  await back(found, scene)
}

const wrong = ({ sheet, seed }: Scene, title: string, what: string): void =>
  void sheet.wrong.push(`${JSON.stringify(title).slice(0, 120)} ${what.slice(0, 300)} (seed ${seed})`)

/** The names of things in a folder; each is checked to be a legal one. */
async function listed(folder: string, scene: Scene): Promise<string[]> {
  const seen = await timed(limit, ({ call }) => call(fs.readdir(folder, { encoding: 'buffer' })))
  const names = bytesIn(seen, folder, scene).map(bytes => {
    const name = bytes.toString()
    if (!Buffer.from(name).equals(bytes)) wrong(scene, name, 'is listed with bytes that are no UTF-8')
    if (bytes.length > 255 || /[\0/]/.test(name) || name === '')
      wrong(scene, name, 'is listed, and no legal name')
    return name
  })
  if (new Set(names).size < names.length) wrong(scene, folder, 'lists a name twice')
  return names.filter(name => !ours.test(name))
}

function bytesIn<Value>(seen: Seen<Value[]>, path: string, scene: Scene): Value[] {
  if (seen.value !== undefined) return seen.value
  wrong(scene, path, `ends with ${seen.errno ?? `a call of ${seen.slowest} ms`}`)
  return []
}

interface Found {
  readonly name: string
  readonly id: string
  readonly title: string
}

/** The record that each name leads to. */
async function idsOf(folder: string, names: readonly string[], scene: Scene): Promise<Found[]> {
  const found: Found[] = []
  const look = async (name: string): Promise<void> => {
    const seen = await timed(limit, async calls => {
      const entries = await calls.call(fs.readdir(join(folder, name)))
      const record = entries.find(entry => /^\.(project|calculation)\.json$/.test(entry)) ?? ''
      return readWhole(calls, join(folder, name, record))
    })
    if (seen.value === undefined) wrong(scene, name, `is listed, and ends with ${seen.errno ?? seen.slowest}`)
    else {
      const record: { id: number; name: string } = JSON.parse(seen.value.toString())
      found.push({ name, id: String(record.id), title: record.name })
    }
  }
  const atOnce = pLimit(6)
  await Promise.all(names.map(name => atOnce(() => look(name))))
  return found
}

/** Each file has the bytes of its title, and no other. */
async function lookAtFiles(folder: string, titles: readonly string[], scene: Scene): Promise<void> {
  const left = new Set(titles)
  for (const name of await listed(folder, scene)) {
    const seen = await timed(limit, calls => readWhole(calls, join(folder, name)))
    if (seen.value === undefined) continue
    const title = titles.find(one => bytesOf(one) === seen.value?.toString())
    if (title === undefined || !left.delete(title))
      wrong(scene, name, `has the bytes ${seen.value.toString().slice(0, 80)}`)
    else scene.sheet.add('listed and found')
  }
  for (const title of left)
    if (!unaskable.test(title)) wrong(scene, title, 'is a file that has no name, or cannot be read')
}

/** Names without a mark are written in an empty project: by mkdir, or by mv. */
async function back(found: readonly Found[], scene: Scene): Promise<void> {
  const { world, drive, pick, sheet } = scene
  const parent = world.add({ kind: 'project', parent: '1', name: 'back' })
  const folder = join(drive.directory, `by-id/project/${parent}`)
  const done = new Set<string>()
  for (const { name, title } of found) {
    if (/~[pc]\d+$/u.test(name) || done.has(title)) continue
    done.add(title)
    const moved = pick.once(3)
    const plain = `plain${sheet.counted('names')}-${done.size}`
    const seen = await timed(limit, async ({ call }) => {
      await call(fs.mkdir(join(folder, moved ? plain : name)))
      if (moved) await call(fs.rename(join(folder, plain), join(folder, name)))
      await call(fs.stat(join(folder, name)))
    })
    const stored = world.titlesBelow(parent)
    if (seen.errno === 'EPERM' && !stored.includes(title)) sheet.add('refused as reserved')
    else if (seen.errno !== undefined || seen.hung)
      wrong(scene, title, `written as ${name}: ${seen.errno ?? 'hung'}`)
    else if (!stored.includes(title))
      wrong(scene, title, `written as ${name} is stored as ${JSON.stringify(stored.at(-1))}`)
    else sheet.add('written and stored')
  }
}

export const names: Figure = {
  name: 'names',
  goal: '≥ 6,000 names there and back (bytes, code points, lengths, normal forms, our own reserved ones): each leads to its thing, over remounts, and written again it is the same title',
  least: { names: 6_000, 'written and stored': 1_000 },
  run,
}
