// Shown things: the identity of each report and share when a program saw it, because no operation brings back what is removed by mistake.
import * as z from 'zod'
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { JsonObject } from '../../record/json/json.js'
import {
  type Dialect,
  differ,
  type Identity,
  instant,
  isAnotherThing,
  type ProjectId,
} from '../../remote/remote.js'
import type { RecordNode } from '../nodes/node.js'

/** A report or share by its number. */
export interface ShownRef {
  readonly of: 'report' | 'share'
  readonly id: string
}

export interface ShownThings {
  /** The service says this of them: kept where nothing was told before, on disk at once. */
  told(things: readonly (readonly [ShownRef, Identity])[]): void
  /** It is another one than it was, and nothing may be kept of that. */
  changed(thing: ShownRef): void
  /** A program has opened it, or has made it: that is what it is meant by from now on. */
  shown(thing: ShownRef, said: Identity): void
  /** Whether it is another one than what was told first, or shown last. */
  isOther(thing: ShownRef, said: Identity): boolean
}

const room = 'shown-things'

const form = z.object({
  born: z.number().optional(),
  owner: z.string().optional(),
  title: z.string().optional(),
  parent: z.string().optional(),
  other: z.boolean().optional(),
})

/** Keeps it in the ledger beside the drafts: it counts over a remount and a kill, for all mounts of one state. */
export function openShownThings(ledger: Ledger): ShownThings {
  const keyOf = ({ of, id }: ShownRef): string => `${of} ${id}`

  function rowOf(thing: ShownRef): z.infer<typeof form> | undefined {
    const kept = ledger.get(room, keyOf(thing))
    try {
      return kept === undefined ? undefined : form.parse(JSON.parse(kept))
    } catch {
      return undefined
    }
  }

  const textOf = ({ born, owner, title, parent }: Identity): string =>
    JSON.stringify({ born, owner, title, parent })

  return {
    told(things) {
      const first = things.filter(([thing]) => rowOf(thing) === undefined)
      for (const [thing, said] of first) ledger.set(room, keyOf(thing), textOf(said))
      if (first.length > 0) ledger.flush()
    },
    changed(thing) {
      if (rowOf(thing) === undefined) ledger.set(room, keyOf(thing), JSON.stringify({ other: true }))
    },
    shown(thing, said) {
      const text = textOf(said)
      if (ledger.get(room, keyOf(thing)) === text) return
      ledger.set(room, keyOf(thing), text)
      ledger.flush()
    },
    isOther(thing, said) {
      const row = rowOf(thing)
      if (row === undefined) return false
      const { born, owner, title, parent } = row
      const before = { born: born === undefined ? undefined : instant(born), owner, title, parent }
      return (
        row.other === true ||
        isAnotherThing(before, said, 'strictly') ||
        differ(owner, said.owner) ||
        differ(title, said.title) ||
        differ(parent, said.parent)
      )
    },
  }
}

/** A share is known by the person it is given to, in its project. */
export const shareIdentity = (project: ProjectId, person: string | undefined): Identity => ({
  born: undefined,
  owner: person,
  title: undefined,
  parent: project,
})

/** Of a report that is not in any project. */
export const reportIdentity = ({ born, owner, title }: Identity): Identity => ({
  born,
  owner,
  title,
  parent: undefined,
})

/** What a record that is deleted by its number is known by. */
export const shownIdentity = (
  node: RecordNode & { readonly of: 'report' | 'share' },
  record: JsonObject,
  dialect: Dialect,
): Identity =>
  node.of === 'report'
    ? reportIdentity(dialect.facts(record))
    : shareIdentity(node.project, dialect.sharedWith(record))
