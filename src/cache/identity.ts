// Identity of things: a service that was set up again gives old ids to other things, and nothing kept under an id is theirs.
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { RecentMap } from '../recent-map.js'
import {
  differ,
  type Identity,
  type Instant,
  identityForm,
  isAnotherThing,
  isSameMoment,
} from '../remote/remote.js'
import { isSameName } from '../spelling.js'
import { type Ledger, type LogFunction, valueIn } from './ledger/ledger.js'

/** A thing with an identity of its own; a share is known by the person it is given to. */
export interface RecordRef {
  readonly kind: 'project' | 'calculation' | 'report'
  readonly id: string
}

/** The answer that said it: the two may write one date differently. */
export type AnswerSource = 'listing' | 'record'

export interface ReusedId {
  readonly thing: RecordRef
  readonly at: Instant
  /** Its place among all changes since the mount, from 1. */
  readonly place: number
  readonly sentence: string
}

const room = 'identity'
const rowForm = z.object({
  mark: z.string(),
  listing: identityForm.optional(),
  record: identityForm.optional(),
})
type IdentityRow = z.infer<typeof rowForm>

const remembered = 4096

export class Identities {
  /** Ids that stood for another thing, since the mount. */
  count = 0
  /** Told of each id that stands for another thing, before that is shown. */
  another: (other: ReusedId) => void = () => {}
  readonly #changes = new RecentMap<string, ReusedId>(remembered)
  /** One thing is asked about several times in a row. */
  #lastRow: { readonly text: string; readonly row: IdentityRow | undefined } = { text: '', row: undefined }

  constructor(
    private readonly ledger: Pick<Ledger, 'get' | 'set'>,
    private readonly now: () => Instant,
    private readonly log: LogFunction,
  ) {}

  /**
   * The service says this of the thing now. Answers the mark under which contents of it are kept; where it is another
   * thing than before, the old one is forgotten by then.
   */
  observe(thing: RecordRef, said: Identity, by: AnswerSource): string {
    const row = this.#rowOf(thing)
    // A path by number says nothing of its thing, and contradicts nothing.
    if (isEmptyIdentity(said)) return row?.mark ?? ''
    if (row === undefined) return this.#keep(thing, { mark: markOf(said), [by]: said })
    if (contradicts(row, said, by)) return this.#another(thing, said, by)
    return this.#keep(thing, { ...row, [by]: { ...row[by], ...stated(said) } })
  }

  /** True if a listing has it under another name or in another project than before, and no date with it: its record has to be read. */
  isElsewhere(thing: RecordRef, listed: Identity): boolean {
    const row = this.#rowOf(thing)
    if (row === undefined || contradicts(row, listed, 'listing')) return false
    const { born, title, parent } = { ...row.record, ...row.listing }
    const isDated = row.listing?.born !== undefined && listed.born !== undefined && born !== undefined
    return !isDated && (differ(title, listed.title) || differ(parent, listed.parent))
  }

  /**
   * Such a record was read, or told nothing. The contents of `before` are its own only where one date was told then and now:
   * answers the mark under which they are kept from now on.
   */
  settle(
    thing: RecordRef,
    listed: Identity,
    { before, now: said }: { before: Identity | undefined; now: Identity | undefined },
  ): string {
    const observed = said && this.observe(thing, said, 'record')
    const isDated = before?.born !== undefined && said?.born !== undefined
    const mark = observed !== undefined && isDated ? observed : freshMark(listed, this.now())
    return this.#keep(thing, { ...this.#rowOf(thing), mark, listing: listed })
  }

  /** The last facts of it; undefined where nothing is known. */
  known(thing: RecordRef): Identity | undefined {
    const row = this.#rowOf(thing)
    return row && { ...row.listing, ...row.record }
  }

  /** A save of this mount has changed what it says of itself: it is the same thing. */
  accept(thing: RecordRef, said: Identity): void {
    const row = this.#rowOf(thing)
    if (row === undefined) return
    const listed = row.listing?.born
    const isSame =
      listed !== undefined && said.born !== undefined && isSameMoment(listed, said.born, 'loosely')
    const isDated = row.record?.born === said.born || isSame
    const listing = row.listing && {
      ...row.listing,
      born: isDated ? listed : undefined,
      title: said.title ?? row.listing.title,
    }
    this.#keep(thing, { ...row, listing, record: said })
  }

  /** It was deleted, or made just now: what comes under this id is another thing than what was known. */
  renew(thing: RecordRef): void {
    if (this.#rowOf(thing) !== undefined) this.#keep(thing, { mark: `#${this.now()}` })
  }

  /** The last change of what this id stands for, since the mount. */
  changeOf(thing: RecordRef): ReusedId | undefined {
    return this.#changes.get(keyOf(thing))
  }

  #rowOf(thing: RecordRef): IdentityRow | undefined {
    const text = this.ledger.get(room, keyOf(thing))
    if (text === undefined) return undefined
    if (text !== this.#lastRow.text) this.#lastRow = { text, row: valueIn(rowForm, text) }
    return this.#lastRow.row
  }

  #keep(thing: RecordRef, row: IdentityRow): string {
    const text = JSON.stringify(row)
    if (this.ledger.get(room, keyOf(thing)) !== text) this.ledger.set(room, keyOf(thing), text)
    return row.mark
  }

  #another(thing: RecordRef, said: Identity, by: AnswerSource): string {
    this.count += 1
    const sentence = `${thing.kind} ${thing.id} on the service is another one than it was: what was kept of the earlier one is not shown any more`
    const other = { thing, at: this.now(), place: this.count, sentence }
    this.#changes.set(keyOf(thing), other)
    this.log('an id stands for another thing than before', { ...thing, sentence })
    const mark = this.#keep(thing, { mark: freshMark(said, this.now()), [by]: said })
    this.another(other)
    return mark
  }
}

const keyOf = ({ kind, id }: RecordRef): string => `${kind} ${id}`

/** True if a record is of another name or date than the listing that led to it: it is read before it is changed or deleted. */
export function isOtherRecord(
  listed: { readonly title?: string | undefined; readonly born?: Instant | undefined },
  { title, born }: Pick<Identity, 'title' | 'born'>,
): boolean {
  const isSame = listed.born === undefined || born === undefined || isSameMoment(listed.born, born, 'loosely')
  return !isSameName(listed.title, title) || !isSame
}

function contradicts(row: IdentityRow, said: Identity, by: AnswerSource): boolean {
  const before = row[by]
  if (before !== undefined && isAnotherThing(before, said, 'strictly')) return true
  if (before?.born !== undefined || said.born === undefined) return false
  const elsewhere = row[by === 'listing' ? 'record' : 'listing']?.born
  return elsewhere !== undefined && !isSameMoment(elsewhere, said.born, 'loosely')
}

/** The date belongs to the id wherever it is known; else the place and the name have to do. */
function markOf({ born, parent = '', title = '' }: Identity): string {
  if (born !== undefined) return String(born)
  const place = createHash('sha256').update(Buffer.from(`${parent}/${title}`, 'utf16le'))
  return `~${place.digest('base64url').slice(0, 16)}`
}

/** Never one that was there before: what was downloaded while the old thing was still believed in is the new one's. */
const freshMark = (said: Identity, now: Instant): string => `${markOf(said)}#${now}`

const isEmptyIdentity = ({ born, owner, title, parent }: Identity): boolean =>
  (born ?? owner ?? title ?? parent) === undefined

/** Without what is not said: it takes nothing away that was. */
const stated = ({ born, owner, title, parent }: Identity): Identity => ({
  ...(born !== undefined && { born }),
  ...(owner !== undefined && { owner }),
  ...(title !== undefined && { title }),
  ...(parent !== undefined && { parent }),
})
