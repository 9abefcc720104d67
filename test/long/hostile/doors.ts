// What a program does at each door, and the allowed outcomes: the truth or an error; never a detectable falsehood.
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { MountTestbed } from '../../testbed/mount.js'
import { readWhole, type Seen, timed } from '../timed.js'
import type { Case, Door } from './case.js'
import type { World } from './world.js'

export interface Judged {
  /** `untold` is another content that only a second source could have told. */
  readonly came: 'right' | 'refused' | 'untold' | 'wrong'
  readonly slowest: number
  readonly what: string
}

export interface Scene {
  readonly drive: MountTestbed
  readonly world: World
  /** Milliseconds that a call may take. */
  readonly limit: number
}

/** Does it, and judges what came. */
export const tried = (one: Case, scene: Scene): Promise<Judged> => tries[one.plan.door](one, scene)

const isLie = ({ plan }: Case): boolean => plan.kinds.some(({ lies }) => lies === true)

const at = ({ drive }: Scene, ...path: string[]): string => join(drive.directory, ...path)

export const fileOf = ({ id, plan }: Case): string =>
  plan.door === 'xyz' ? `by-id/calculation/${id}/c${id}.xyz` : `by-id/calculation/${id}/data.bin`

/** The errno, or the judgement of what was seen. */
function judged<Value>(seen: Seen<Value>, judge: (value: Value) => Pick<Judged, 'came' | 'what'>): Judged {
  const { slowest, errno, hung, value } = seen
  if (hung) return { came: 'wrong', slowest, what: `a call hung for ${slowest} ms` }
  if (errno !== undefined || value === undefined)
    return { came: 'refused', slowest, what: errno ?? 'nothing' }
  return { slowest, ...judge(value) }
}

const right = { came: 'right', what: '' } as const

async function tryListing(one: Case, scene: Scene): Promise<Judged> {
  const seen = await timed(scene.limit, ({ call }) => call(fs.readdir(at(scene, 'by-id/project', one.id))))
  return judged(seen, names => {
    const shown = names.filter(name => !name.startsWith('.')).sort()
    const due = [...scene.world.children(one.id)].sort()
    if (isDeepStrictEqual(shown, due)) return right
    const what = `${shown.length} names of ${due.length}, such as ${shown.find(name => !due.includes(name))}`
    return { came: isLie(one) ? 'untold' : 'wrong', what }
  })
}

async function tryRecord(one: Case, scene: Scene): Promise<Judged> {
  const { recordOf } = one.plan
  const path = {
    project: `by-id/project/${one.id}/.project.json`,
    calculation: `by-id/calculation/${one.id}/.calculation.json`,
    report: `reports/${one.id}.json`,
  }[recordOf]
  const seen = await timed(scene.limit, calls => readWhole(calls, at(scene, path)))
  return judged(seen, bytes => {
    const text = bytes.toString()
    if (sameJson(text, scene.world.record(recordOf, one.id))) return right
    const what = `another record: ${text.slice(0, 120)}`
    // A text that is no number names no other record.
    const ids = [...text.matchAll(/^\s*"id":\s*"?([-+]?\d+)"?,?$/gm)].map(([, id]) => id)
    const isItsOwn = ids.length === 0 || ids.includes(one.id)
    return { came: isLie(one) && isItsOwn ? 'untold' : 'wrong', what }
  })
}

async function trySize(one: Case, scene: Scene): Promise<Judged> {
  const seen = await timed(scene.limit, ({ call }) => call(fs.stat(at(scene, fileOf(one)))))
  const size = judged(seen, stat => {
    const { length } = scene.world.bytes(one.id, 'file')
    if (stat.size === length) return right
    const untold = one.claims.fits(stat.size)
    return { came: untold ? 'untold' : 'wrong', what: `the size ${stat.size} of ${length}` }
  })
  if (size.came === 'wrong' || size.came === 'refused') return size
  const content = await tryContent(one, scene)
  return content.came === 'wrong' ? content : { ...size, slowest: Math.max(size.slowest, content.slowest) }
}

export async function tryContent(one: Case, scene: Scene): Promise<Judged> {
  const seen = await timed(scene.limit, calls => readWhole(calls, at(scene, fileOf(one))))
  return judged(seen, bytes => {
    const due = scene.world.bytes(one.id, one.plan.door === 'xyz' ? 'xyz' : 'file')
    if (bytes.equals(due)) return right
    const untold = isLie(one) && one.claims.fits(bytes.length)
    const what = `${bytes.length} bytes of ${due.length}, other ones from ${firstDifference(bytes, due)} on; told were ${told(one)}`
    return { came: untold ? 'untold' : 'wrong', what }
  })
}

const told = ({ claims }: Case): string =>
  [...claims.lengths].map(([length, ways]) => `${length} (${[...ways].join(', ')})`).join(', ')

/** The token ends, and the next one is asked for; what comes of it is no more than an errno. */
async function tryLogin(one: Case, scene: Scene): Promise<Judged> {
  scene.world.expire()
  const seen = await timed(scene.limit, ({ call }) => call(fs.stat(at(scene, 'by-id/project', one.id))))
  return judged(seen, () => right)
}

const tries: Readonly<Record<Door, (one: Case, scene: Scene) => Promise<Judged>>> = {
  listing: tryListing,
  record: tryRecord,
  size: trySize,
  content: tryContent,
  xyz: tryContent,
  login: tryLogin,
}

function sameJson(one: string, other: string): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(one), JSON.parse(other))
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return false
    throw thrown
  }
}

function firstDifference(one: Buffer, other: Buffer): number {
  for (let place = 0; place < one.length; place += 1) if (one[place] !== other[place]) return place
  return one.length
}
