// Pins on disk: which subtrees the user wants kept whole, and what of the service belongs to each of them.
import * as z from 'zod'
import type { Ledger } from '../../cache/ledger/ledger.js'
import { derivedNames } from '../../content-kinds.js'
import { type Instant, instant } from '../../remote/remote.js'
import { type Node, nodeKey } from '../nodes/node.js'

/** The things that can be pinned. */
export type PinTarget = Extract<Node, { kind: 'top' | 'project' | 'calculation' | 'report' | 'content' }>

export interface Pin {
  /** The key of its node: it stays what it is where its path changes. */
  readonly key: string
  /** Where it stood when it was pinned. */
  readonly path: string
  readonly target: PinTarget
  readonly since: Instant
}

/** The members of a pin, as far as they were found. */
export interface PinMembers {
  /** The names of its contents, as the content cache has them. */
  readonly contents: ReadonlySet<string>
  readonly projects: ReadonlySet<string>
  readonly calculations: ReadonlySet<string>
  readonly reports: ReadonlySet<string>
  /** The projects that lead to it. */
  readonly above: ReadonlySet<string>
}

const [pinRoom, memberRoom] = ['pin', 'pin-members']

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

const idsForm = z.array(z.string()).transform(ids => new Set(ids))
const membersForm = z.object({
  contents: idsForm,
  projects: idsForm,
  calculations: idsForm,
  reports: idsForm,
  above: idsForm,
})

const noIds: ReadonlySet<string> = new Set()
export const noMembers: PinMembers = {
  contents: noIds,
  projects: noIds,
  calculations: noIds,
  reports: noIds,
  above: noIds,
}

export class PinStore {
  /** The members of a pin, and the time of its row, which moves with them: reading and parsing many takes long. */
  private readonly read = new Map<
    string,
    { readonly stored: Instant | undefined; readonly found: PinMembers }
  >()

  constructor(private readonly ledger: Ledger) {}

  /** Another number once another process has written. */
  revision(): number {
    return this.ledger.revision()
  }

  /** The oldest first; those of other mounts of the cache directory too. */
  list(): readonly Pin[] {
    return [...this.ledger.entries(pinRoom)]
      .flatMap(([key, { value }]) => pinIn(key, value) ?? [])
      .sort((one, other) => one.since - other.since)
  }

  /** On disk when it returns. */
  set({ key, path, target, since }: Pin): void {
    // A node of a listing is a view of packed rows, with no fields of its own.
    this.ledger.set(pinRoom, key, JSON.stringify({ path, since, target: targetForm.parse(target) }))
    this.ledger.flush()
  }

  remove(key: string): void {
    this.read.delete(key)
    for (const room of [pinRoom, memberRoom]) this.ledger.delete(room, key)
    this.ledger.flush()
  }

  /** Its members at the last look. */
  members(key: string): PinMembers {
    const before = this.read.get(key)
    const stored = this.ledger.getWithTime(pinRoom, key)?.stored
    if (before !== undefined && before.stored === stored) return before.found
    const found = parsed(membersForm, this.ledger.get(memberRoom, key)) ?? noMembers
    this.read.set(key, { stored, found })
    return found
  }

  setMembers(key: string, { contents, projects, calculations, reports, above }: PinMembers): void {
    const found = { contents, projects, calculations, reports, above }
    const text = JSON.stringify(found, (_, value) => (value instanceof Set ? [...value] : value))
    if (this.ledger.get(memberRoom, key) !== text) {
      this.ledger.set(memberRoom, key, text)
      this.ledger.freshen(pinRoom, key)
    }
    this.ledger.flush()
  }
}

function pinIn(key: string, text: string): Pin | undefined {
  const pin = parsed(pinForm, text)
  if (pin === undefined) return undefined
  const target = pin.target as PinTarget
  return nodeKey(target) === key ? { key, path: pin.path, target, since: instant(pin.since) } : undefined
}

/** Undefined for what another version of calcfs wrote. */
function parsed<Value>(form: z.ZodType<Value>, text: string | undefined): Value | undefined {
  try {
    return form.parse(JSON.parse(text ?? ''))
  } catch {
    return undefined
  }
}
