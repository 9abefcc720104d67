// Codecs of lists: a project's children, compressed in batches, each with the time at which it was first listed; and short lists of records.
import { deserialize, serialize } from 'node:v8'
import {
  bundleSize,
  CompressedBatch,
  packed,
  textsOf,
  unpacked,
} from '../../record/compact/compressed-batch.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { compactPrint } from '../../record/json/print.js'
import { type Instant, instant, isSameMoment, type Listed, type ProjectId } from '../../remote/remote.js'
import type { LedgerValue } from '../ledger/table.js'
import { atLatest } from './times.js'

type ChildList = readonly Listed<string>[]

interface ChildColumns {
  readonly ids: readonly string[]
  readonly titles: readonly string[]
  readonly dates: readonly (Instant | null)[]
  /** Missing where no item says it. */
  readonly born?: readonly (Instant | null)[] | undefined
  readonly published: readonly (0 | 1)[]
}

export interface ChildrenForm {
  readonly kind: Listed<string>['kind']
  readonly parent: ProjectId
}

/** What all items of a stretch have, and their other fields. */
type PackedStretch = readonly [heads: Buffer, others: Buffer]

export function encodeChildren(children: ChildList): Uint8Array {
  const stretches: PackedStretch[] = []
  for (let from = 0; from < children.length; from += bundleSize) {
    const stretch = children.slice(from, from + bundleSize)
    stretches.push([packed(columnsOf(stretch)), othersOf(stretch)])
  }
  return serialize(stretches)
}

/** The children from such bytes. @throws Error for others */
export function decodeChildren(kept: LedgerValue, common: ChildrenForm): ChildList {
  if (typeof kept === 'string') throw new Error('a listing in another form')
  const stretches: readonly PackedStretch[] = deserialize(kept)
  return stretches.flatMap(([heads, others]) => stretchOf(unpacked(heads) as ChildColumns, others, common))
}

function columnsOf(stretch: ChildList): ChildColumns {
  return {
    ids: stretch.map(({ id }) => id),
    titles: stretch.map(({ title }) => title),
    dates: stretch.map(({ since }) => since ?? null),
    ...(stretch.some(({ born }) => born !== undefined)
      ? { born: stretch.map(({ born }) => born ?? null) }
      : {}),
    published: stretch.map(({ published }) => (published ? 1 : 0)),
  }
}

/** A bundle as it came, where it belongs to just these items; nothing where none of them has one. */
function othersOf(stretch: ChildList): Buffer {
  const bundle = stretch[0]?.bundle
  const isWhole = bundle?.size === stretch.length
  if (isWhole && stretch.every((item, at) => item.bundle === bundle && item.place === at))
    return bundle.packed()
  return stretch.some(item => item.bundle !== undefined) ? packed([...textsOf(stretch)]) : Buffer.alloc(0)
}

function stretchOf(heads: ChildColumns, others: Buffer, { kind, parent }: ChildrenForm): Listed<string>[] {
  const { ids, titles, dates, born, published } = heads
  // A copy: a part would keep the whole listing in memory.
  const bundle = others.length === 0 ? undefined : new CompressedBatch(Buffer.from(others), ids.length)
  return ids.map((id, place) => ({
    kind,
    id,
    title: titles[place] ?? '',
    since: dates[place] ?? undefined,
    born: born?.[place] ?? undefined,
    published: published[place] === 1,
    parent,
    bundle,
    place,
  }))
}

/**
 * The children as they are listed now, each with the time it was first listed with: its own of then, else that of its
 * first listing. Another thing under a known id has a time of its own. The very same object as before where nothing has
 * changed.
 */
export function withFirstTimes<Item extends Listed<string>>(
  listed: readonly Item[],
  before: readonly Item[] | undefined,
  { now, parent }: { now: Instant; parent: ProjectId },
): readonly Item[] {
  const known = before ?? []
  const inOrder = listed.every(({ id }, at) => known[at]?.id === id)
  const byId = inOrder ? undefined : new Map(known.map(item => [item.id, item]))
  const settled = listed.map((item, at): Item => {
    const since = sinceOf(item, byId === undefined ? known[at] : byId.get(item.id), now)
    return since === item.since && parent === item.parent ? item : { ...item, since, parent }
  })
  return before !== undefined && isSameList(settled, before) ? before : settled
}

/** The same path has another time once it is another thing's. */
function sinceOf(item: Listed<string>, old: Listed<string> | undefined, now: Instant): Instant {
  const isAnother =
    old?.born !== undefined && item.born !== undefined && !isSameMoment(old.born, item.born, 'strictly')
  const since = (isAnother ? undefined : old?.since) ?? atLatest(now, item.since)
  return isAnother && since === old.since ? instant(since + 1) : since
}

function isSameList(one: ChildList, other: ChildList): boolean {
  if (one.length !== other.length) return false
  const compared = new Map<CompressedBatch, CompressedBatch>()
  return one.every((item, at) => {
    const twin = other[at]
    return (
      twin !== undefined &&
      item.id === twin.id &&
      item.title === twin.title &&
      item.since === twin.since &&
      item.born === twin.born &&
      item.published === twin.published &&
      item.place === twin.place &&
      isSameBundle(item.bundle, twin.bundle, compared)
    )
  })
}

function isSameBundle(
  one: CompressedBatch | undefined,
  other: CompressedBatch | undefined,
  compared: Map<CompressedBatch, CompressedBatch>,
): boolean {
  if (one === undefined || other === undefined) return one === other
  if (compared.get(one) === other) return true
  if (!one.packed().equals(other.packed())) return false
  compared.set(one, other)
  return true
}

/** A list of things with their records, as a text. */
export const encodeRecords = (items: readonly { readonly record: JsonObject }[]): string =>
  JSON.stringify(items.map(item => ({ ...item, record: compactPrint(item.record) })))

/** The things from such a text. @throws Failure or SyntaxError for another */
export const decodeRecords = <Item extends { readonly record: JsonObject }>(text: string): Item[] =>
  (JSON.parse(text) as (Item & { record: string })[]).map(item => ({
    ...item,
    record: parseObject(item.record),
  }))
