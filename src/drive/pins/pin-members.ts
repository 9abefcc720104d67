// Pin members: what all pins keep, in memory: which contents are never evicted, and which answers serve at any age.
import type { ContentCache } from '../../cache/content/content.js'
import { type Node, nodeKey } from '../nodes/node.js'
import type { SizedContent } from './pin-fetch.js'
import { type PinMembers as MembersOfPin, noMembers, type PinStore } from './pin-store.js'

/** A question as the query cache names it. */
export interface PinQuestion {
  readonly namespace: string
  readonly key: string
}

const partOfPins = 7 / 8

export class AllPinMembers {
  #members = new Map<string, MembersOfPin>()
  #names: ReadonlySet<string> = new Set()
  /** The store's, as it was read last. */
  #revision = -1
  /** Bytes that each pin was allowed last. */
  readonly #allowed = new Map<string, number>()

  /** @param cacheBytes bytes that kept files may take in all */
  constructor(
    private readonly store: PinStore,
    private readonly content: Pick<ContentCache, 'nameOf' | 'kept'>,
    private readonly cacheBytes: number,
  ) {
    this.read()
  }

  /** Takes what is on the disk: another mount may have pinned something. */
  read(): void {
    this.#revision = this.store.revision()
    const before = this.#members
    this.#members = new Map(this.store.list().map(({ key }) => [key, this.store.members(key)]))
    const isSame = [...this.#members].every(([key, found]) => before.get(key) === found)
    if (isSame && before.size === this.#members.size) return
    for (const key of this.#allowed.keys()) if (!this.has(key)) this.#allowed.delete(key)
    this.#takeEffect()
  }

  has(key: string): boolean {
    return this.#members.has(key)
  }

  /** Nothing more belongs to it where nothing is given. */
  set(key: string, found: MembersOfPin = noMembers): void {
    if (!this.has(key)) return
    this.store.setMembers(key, found)
    this.#members.set(key, found)
    this.#takeEffect()
  }

  /** The names of what one pin keeps. */
  contents(key: string): ReadonlySet<string> {
    return this.#members.get(key)?.contents ?? noMembers.contents
  }

  /** The members of a pin that may be kept beside the others. */
  fit(key: string, all: readonly SizedContent[]) {
    const most = this.cacheBytes * partOfPins
    const own = this.contents(key)
    const others = new Set(
      [...this.#members].flatMap(([other, one]) => (other === key ? [] : [...one.contents])),
    )
    const taken = this.#bytesOfOthers(key, others)
    let used = 0
    const chosen: SizedContent[] = []
    const tooMany: SizedContent[] = []
    // Contents kept for it go first, then the order of the paths: no new file pushes an old one out.
    const isOwn = (one: SizedContent): number => Number(own.has(this.content.nameOf(one.content)))
    for (const one of [...all].sort((first, second) => isOwn(second) - isOwn(first))) {
      const bytes = others.has(this.content.nameOf(one.content)) ? 0 : one.bytes
      if (taken + used + bytes > most) tooMany.push(one)
      else {
        used += bytes
        chosen.push(one)
      }
    }
    this.#allowed.set(key, used)
    return {
      chosen,
      tooMany,
      // Why not all of them fit, and what to do.
      because: this.#tooManyBecause(tooMany, taken + used),
    }
  }

  /** Of pins that were not looked at yet in this process what is on the disk counts. */
  #bytesOfOthers(key: string, names: ReadonlySet<string>): number {
    let told = 0
    for (const [other, bytes] of this.#allowed) if (other !== key) told += bytes
    return Math.max(told, this.content.kept([...names]).bytes)
  }

  #tooManyBecause(tooMany: readonly SizedContent[], used: number): string | undefined {
    if (tooMany.length === 0) return undefined
    const bytes = tooMany.reduce((sum, one) => sum + one.bytes, 0)
    const needed = Math.ceil((used + bytes) / partOfPins)
    const files = `${tooMany.length} ${tooMany.length === 1 ? 'file' : 'files'}`
    return `${files} of ${bytes} bytes do not fit, because pins take seven eighths of --cache-size (${this.cacheBytes}) at most: mount with --cache-size ${needed}, or unpin something`
  }

  /** The key of the pin that keeps this. */
  coverOf(node: Node): string | undefined {
    return [...this.#members].find(([key, one]) => nodeKey(node) === key || this.#isIn(one, node))?.[0]
  }

  keepsAnswer(query: PinQuestion, answer: unknown): boolean {
    const all = [...this.#members.values()]
    switch (query.namespace) {
      // The way to every pin begins there.
      case 'user':
        return all.length > 0
      // A report tells the name of its type.
      case 'report-types':
        return all.some(({ reports }) => reports.size > 0)
      // Where a path leads.
      case 'resolve': {
        const kind = query.key.slice(0, query.key.indexOf(' '))
        return typeof answer === 'string' && all.some(one => concerns(one, kind, answer))
      }
      default:
        return this.keysOf(query).length > 0
    }
  }

  /** The keys of the pins of which this tells something. */
  keysOf(query: PinQuestion): readonly string[] {
    const { kind, id } = thingOf(query)
    return [...this.#members].flatMap(([key, one]) => (concerns(one, kind, id) ? [key] : []))
  }

  /** The names of all contents that stay on this disk, another mount's newest included. */
  names(): ReadonlySet<string> {
    if (this.store.revision() !== this.#revision) this.read()
    return this.#names
  }

  keepsContent(name: string): boolean {
    return this.#names.has(name)
  }

  /** The keys of the pins that keep a content of this name. */
  keepersOf(name: string): readonly string[] {
    if (!this.keepsContent(name)) return []
    return [...this.#members].filter(([, { contents }]) => contents.has(name)).map(([key]) => key)
  }

  #takeEffect(): void {
    this.#names = new Set([...this.#members.values()].flatMap(({ contents }) => [...contents]))
  }

  #isIn(one: MembersOfPin, node: Node): boolean {
    switch (node.kind) {
      case 'content':
        return one.contents.has(this.content.nameOf(node.content))
      case 'project':
      case 'calculation':
      case 'report':
        return idsOf(one, node.kind).has(node.id)
      case 'record':
        return node.of === 'share' ? one.projects.has(node.project) : idsOf(one, node.of).has(node.id)
      default:
        return false
    }
  }
}

/** The project, calculation or report that a listing, a record or a list of shares is of. */
export function thingOf({ key }: PinQuestion): { readonly kind: string; readonly id: string } {
  const [, kind = 'project', id = ''] = /^(?:(\w+) )?(\d+)$/.exec(key) ?? []
  if (isOfProject(kind)) return { kind: 'project', id }
  return { kind: kind === 'report' ? kind : 'calculation', id }
}

/** True if it belongs to it, or leads to it. */
const concerns = (one: MembersOfPin, kind: string, id: string): boolean =>
  idsOf(one, kind).has(id) || (kind === 'project' && one.above.has(id))

/** A key of listings or records names the kind before the id, `projects 7` or `files 9`; that of shares is a project's id. */
function idsOf(one: MembersOfPin, kind: string): ReadonlySet<string> {
  if (isOfProject(kind)) return one.projects
  return kind === 'report' ? one.reports : one.calculations
}

const isOfProject = (kind: string): boolean => /^(project|projects|calculations)$/.test(kind)
