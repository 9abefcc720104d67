// Pins on disk: which subtrees the user wants kept whole, and what of the service belongs to each of them.
import * as z from 'zod'
import type { Ledger } from '../../cache/ledger/ledger.js'
import { derivedNames } from '../../content-kinds.js'
import {
  type CalculationId,
  type Content,
  type FileTitle,
  type Instant,
  instant,
  type ProjectId,
  type ReportId,
} from '../../remote/remote.js'
import { type Node, nodeKey } from '../nodes/node.js'

/** What can be pinned. */
export type PinTarget = Extract<Node, { kind: 'top' | 'project' | 'calculation' | 'report' | 'content' }>

export interface Pin {
  /** The key of its node: it stays what it is where its path changes. */
  readonly key: string
  /** Where it stood when it was pinned. */
  readonly path: string
  readonly target: PinTarget
  readonly since: Instant
}

/** What belongs to a pin, as far as it was found. */
export interface PinMembers {
  /** The names of its contents, as the content cache has them. */
  readonly contents: ReadonlySet<string>
  readonly projects: ReadonlySet<string>
  readonly calculations: ReadonlySet<string>
  readonly reports: ReadonlySet<string>
  /** The projects that lead to it. */
  readonly above: ReadonlySet<string>
}

export interface PinStore {
  /** The oldest first; those of other mounts of the state directory too. */
  list(): readonly Pin[]
  /** On disk when it returns. */
  set(pin: Pin): void
  remove(key: string): void
  /** What belonged to it when it was looked at last. */
  members(key: string): PinMembers
  setMembers(key: string, members: PinMembers): void
}

const [pinRoom, memberRoom, contentRoom] = ['pin', 'pin-members', 'pin-contents']
/** Bytes of a name: a SHA-256. */
const nameBytes = 32

const contentForm = z.object({
  of: z.enum(['file', ...derivedNames]),
  calculation: z.string(),
  title: z.string(),
  mark: z.string().optional(),
})
const pinForm = z.object({
  path: z.string(),
  since: z.number(),
  kind: z.enum(['top', 'project', 'calculation', 'report', 'content']),
  id: z.string().optional(),
  title: z.string().optional(),
  content: contentForm.optional(),
})
const membersForm = z.object({
  projects: z.array(z.string()),
  calculations: z.array(z.string()),
  reports: z.array(z.string()),
  above: z.array(z.string()),
})

export const noMembers: PinMembers = {
  contents: new Set(),
  projects: new Set(),
  calculations: new Set(),
  reports: new Set(),
  above: new Set(),
}

export function openPinStore(state: Ledger): PinStore {
  return {
    list: () =>
      [...state.entries(pinRoom)]
        .flatMap(([key, { value }]) => pinIn(key, value) ?? [])
        .sort((one, other) => one.since - other.since),
    set({ key, path, target, since }) {
      state.set(pinRoom, key, JSON.stringify({ path, since, ...targetFields(target) }))
      state.flush()
    },
    remove(key) {
      for (const room of [pinRoom, memberRoom, contentRoom]) state.delete(room, key)
      state.flush()
    },
    members(key) {
      const names = state.getWithTime(contentRoom, key)?.value
      const ids = membersIn(state.get(memberRoom, key))
      return {
        contents: new Set(names instanceof Uint8Array ? namesIn(names) : []),
        projects: new Set(ids.projects),
        calculations: new Set(ids.calculations),
        reports: new Set(ids.reports),
        above: new Set(ids.above),
      }
    },
    setMembers(key, { contents, projects, calculations, reports, above }) {
      const ids = JSON.stringify({
        projects: [...projects],
        calculations: [...calculations],
        reports: [...reports],
        above: [...above],
      })
      if (state.get(memberRoom, key) !== ids) state.set(memberRoom, key, ids)
      const names = Buffer.from([...contents].join(''), 'hex')
      const kept = state.getWithTime(contentRoom, key)?.value
      if (!(kept instanceof Uint8Array) || !names.equals(kept)) state.set(contentRoom, key, names)
      state.flush()
    },
  }
}

function targetFields(target: PinTarget): object {
  switch (target.kind) {
    case 'top':
      return { kind: 'top' }
    case 'content':
      return { kind: 'content', content: target.content }
    case 'project':
    case 'calculation':
      return { kind: target.kind, id: target.id, title: target.title }
    case 'report':
      return { kind: 'report', id: target.id }
  }
}

/** Undefined for what another version of calcfs wrote. */
function pinIn(key: string, text: string): Pin | undefined {
  try {
    const { path, since, ...fields } = pinForm.parse(JSON.parse(text))
    const target = targetIn(fields)
    if (target === undefined || nodeKey(target) !== key) return undefined
    return { key, path, target, since: instant(since) }
  } catch {
    return undefined
  }
}

function targetIn({
  kind,
  id = '',
  title = '',
  content,
}: Omit<z.infer<typeof pinForm>, 'path' | 'since'>): PinTarget | undefined {
  switch (kind) {
    case 'top':
      return { kind }
    case 'project':
      return { kind, id: id as ProjectId, title }
    case 'calculation':
      return { kind, id: id as CalculationId, title }
    case 'report':
      return { kind, id: id as ReportId }
    case 'content':
      return content && { kind, content: contentIn(content) }
  }
}

const contentIn = ({ of, calculation, title, mark }: z.infer<typeof contentForm>): Content => ({
  of,
  calculation: calculation as CalculationId,
  title: title as FileTitle,
  ...(mark === undefined ? {} : { mark }),
})

function membersIn(text: string | undefined): z.infer<typeof membersForm> {
  try {
    return membersForm.parse(JSON.parse(text ?? ''))
  } catch {
    return { projects: [], calculations: [], reports: [], above: [] }
  }
}

function* namesIn(bytes: Uint8Array): Iterable<string> {
  const names = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at + nameBytes <= names.length; at += nameBytes)
    yield names.toString('hex', at, at + nameBytes)
}
