// Pins, on disk and in memory: which subtrees the user wants kept whole, what belongs to each, and what is not evicted for them.
import * as z from 'zod'
import type { ContentCache } from '../../cache/content/content.js'
import { type Ledger, valueIn } from '../../cache/ledger/ledger.js'
import { shownByQuery } from '../../cache/metadata/catalog.js'
import { derivedNames } from '../../content-kinds.js'
import { type Instant, instant } from '../../remote/remote.js'
import { type Node, nodeKey } from '../nodes/node.js'
import type { SizedContent } from './pin-fetch.js'
import type { PinTarget } from './subtree.js'

export interface Pin {
  /** The key of its node: it stays what it is where its path changes. */
  readonly key: string
  readonly path: string
  readonly target: PinTarget
  readonly since: Instant
}

export interface PinMembers {
  readonly contents: ReadonlySet<string>
  readonly things: ReadonlySet<string>
  readonly above: ReadonlySet<string>
  /** Bytes of its contents, without those that another pin kept before. */
  readonly bytes: number
}

interface PinQuestion {
  readonly namespace: string
  readonly key: string
}

interface KnownPin {
  readonly pin: Pin
  /** The time of its row, which moves with its members: reading and parsing many takes long. */
  readonly stored: Instant
  readonly members: PinMembers
}

const [pinRoom, memberRoom] = ['pin', 'pin-members']
const partOfPins = 7 / 8

const contentForm = z.object({
  of: z.enum(['file', ...derivedNames]),
  calculation: z.string(),
  title: z.string(),
  mark: z.string().optional(),
})
const targetForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('top') }),
  z.object({ kind: z.literal(['project', 'calculation']), id: z.string(), title: z.string().default('') }),
  z.object({ kind: z.literal('report'), id: z.string() }),
  z.object({ kind: z.literal('content'), content: contentForm }),
])
const pinForm = z.object({ path: z.string(), since: z.number(), target: targetForm })

const namesForm = z.array(z.string()).transform(names => new Set(names))
const membersForm = z.object({ contents: namesForm, things: namesForm, above: namesForm, bytes: z.number() })

const none: ReadonlySet<string> = new Set()
const noMembers: PinMembers = { contents: none, things: none, above: none, bytes: 0 }

export class PinStore {
  #known = new Map<string, KnownPin>()
  #names = none
  /** The ledger's, as it was read last: another mount may have pinned something. */
  #revision = -1

  /** @param cacheBytes bytes that kept files may take in all */
  constructor(
    private readonly ledger: Ledger,
    private readonly content: Pick<ContentCache, 'nameOf' | 'kept'>,
    private readonly cacheBytes: number,
  ) {}

  /** The oldest first; those of other mounts of the cache directory too. */
  list(): readonly Pin[] {
    return [...this.#all().values()].map(({ pin }) => pin)
  }

  find(key: string): Pin | undefined {
    return this.#all().get(key)?.pin
  }

  /** On disk when it returns. */
  set({ key, path, target, since }: Pin): void {
    // A node of a listing is a view of packed rows, with no fields of its own.
    this.ledger.set(pinRoom, key, JSON.stringify({ path, since, target: targetForm.parse(target) }))
    this.ledger.flush()
    this.#read()
  }

  remove(key: string): void {
    for (const room of [pinRoom, memberRoom]) this.ledger.delete(room, key)
    this.ledger.flush()
    this.#read()
  }

  members(key: string): PinMembers {
    return this.#all().get(key)?.members ?? noMembers
  }

  /** Nothing more belongs to it where nothing is given. */
  setMembers(key: string, members: PinMembers = noMembers): void {
    const known = this.#all().get(key)
    if (known === undefined) return
    const text = JSON.stringify(members, (_, value) => (value instanceof Set ? [...value] : value))
    if (this.ledger.get(memberRoom, key) !== text) {
      this.ledger.set(memberRoom, key, text)
      this.ledger.freshen(pinRoom, key)
    }
    this.ledger.flush()
    const stored = this.ledger.getWithTime(pinRoom, key)?.stored ?? known.stored
    this.#take(this.#known.set(key, { ...known, stored, members }))
  }

  /** The members of a pin that may be kept beside the others: those kept for it first, then in the order of their paths. */
  fit(key: string, all: readonly SizedContent[]) {
    const most = this.cacheBytes * partOfPins
    const own = this.members(key).contents
    const others = [...this.#all()].flatMap(([other, { members }]) => (other === key ? [] : [members]))
    const names = new Set(others.flatMap(({ contents }) => [...contents]))
    // Of two pins that share a content each may count it as the other's.
    const taken = Math.max(
      others.reduce((sum, { bytes }) => sum + bytes, 0),
      this.content.kept([...names]).bytes,
    )
    const chosen: SizedContent[] = []
    const tooMany: SizedContent[] = []
    let [bytes, tooMuch] = [0, 0]
    for (const one of all.toSorted((one, other) => Number(own.has(other.name)) - Number(own.has(one.name)))) {
      const more = names.has(one.name) ? 0 : one.bytes
      const fits = taken + bytes + more <= most
      if (fits) bytes += more
      else tooMuch += more
      ;(fits ? chosen : tooMany).push(one)
    }
    if (tooMany.length === 0) return { chosen, tooMany, bytes, because: undefined }
    const files = `${tooMany.length} ${tooMany.length === 1 ? 'file' : 'files'}`
    const needed = Math.ceil((taken + bytes + tooMuch) / partOfPins)
    const because = `${files} of ${tooMuch} bytes do not fit, because pins take seven eighths of --cache-size (${this.cacheBytes}) at most: mount with --cache-size ${needed}, or unpin something`
    return { chosen, tooMany, bytes, because }
  }

  coverOf(node: Node): Pin | undefined {
    const all = [...this.#all().values()]
    return all.find(({ pin, members }) => pin.key === nodeKey(node) || this.#isIn(members, node))?.pin
  }

  /** True if this answer serves at any age: a pinned thing is shown in an outage. */
  keepsAnswer({ namespace, key }: PinQuestion, answer: unknown): boolean {
    const all = [...this.#all().values()].map(({ members }) => members)
    switch (namespace) {
      // The way to every pin begins there.
      case 'user':
        return all.length > 0
      // A report tells the name of its type.
      case 'report-types':
        return all.some(({ things }) => [...things].some(thing => thing.startsWith('report ')))
      // Where a path leads.
      case 'resolve':
        return this.#concerned(`${key.slice(0, key.indexOf(' '))} ${answer}`).length > 0
      default:
        return this.pinsOf({ namespace, key }).length > 0
    }
  }

  pinsOf({ namespace, key }: PinQuestion): readonly Pin[] {
    const shown = shownByQuery(namespace, key)?.replace(/^record /, '')
    return shown === undefined ? [] : this.#concerned(shown)
  }

  names(): ReadonlySet<string> {
    this.#all()
    return this.#names
  }

  keepersOf(name: string): readonly Pin[] {
    return this.names().has(name) ? this.#pinsWith(({ contents }) => contents.has(name)) : []
  }

  #all(): ReadonlyMap<string, KnownPin> {
    if (this.ledger.revision() !== this.#revision) this.#read()
    return this.#known
  }

  #read(): void {
    this.#revision = this.ledger.revision()
    const found = [...this.ledger.entries(pinRoom)].flatMap(([key, { value, stored }]) => {
      const pin = pinIn(key, value)
      if (pin === undefined) return []
      const before = this.#known.get(key)
      const isSame = before?.stored === stored
      const members = isSame ? before.members : valueIn(membersForm, this.ledger.get(memberRoom, key))
      return [{ pin, stored, members: members ?? noMembers }]
    })
    found.sort((one, other) => one.pin.since - other.pin.since)
    this.#take(new Map(found.map(one => [one.pin.key, one])))
  }

  #take(known: Map<string, KnownPin>): void {
    this.#known = known
    this.#names = new Set([...known.values()].flatMap(({ members }) => [...members.contents]))
  }

  #concerned(thing: string): readonly Pin[] {
    return this.#pinsWith(({ things, above }) => things.has(thing) || above.has(thing))
  }

  #pinsWith(has: (members: PinMembers) => boolean): readonly Pin[] {
    return [...this.#all().values()].filter(({ members }) => has(members)).map(({ pin }) => pin)
  }

  #isIn({ contents, things }: PinMembers, node: Node): boolean {
    if (node.kind === 'content') return contents.has(this.content.nameOf(node.content))
    if (node.kind !== 'record') return things.has(nodeKey(node))
    return things.has(node.of === 'share' ? `project ${node.project}` : `${node.of} ${node.id}`)
  }
}

function pinIn(key: string, text: string): Pin | undefined {
  const pin = valueIn(pinForm, text)
  if (pin === undefined) return undefined
  const target = pin.target as PinTarget
  return nodeKey(target) === key ? { key, path: pin.path, target, since: instant(pin.since) } : undefined
}
