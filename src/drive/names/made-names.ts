// Records made by each `new*.json`: kept until an orderly end after a confirmed save, so that no second try makes another one.
import type { Ledger } from '../../cache/ledger/ledger.js'
import { type NewNode, nodeKey } from '../nodes/node.js'

/** The record's number, and the hashes of two texts in the history: what it was made of, and the record as it was then. */
export interface MadeName {
  readonly id: string
  readonly madeOf: string
  readonly base: string
}

export interface MadeNames {
  of(node: NewNode): MadeName | undefined
  /** On disk before this returns, where the disk takes it; how the save is answered is not known yet. */
  note(node: NewNode, made: MadeName): void
  /** Whether the disk has the number of its record: the draft of the new file may go then. */
  isKept(node: NewNode): boolean
  /** How the last save under this name was answered: where it failed, its writer will try again. */
  answered(node: NewNode, isWell: boolean): void
  /** The keys of the names that stand for this record. */
  keysOf(kind: string, id: string): readonly string[]
  /** The record is gone. */
  forget(kind: NewNode['of'], id: string): void
  /** The drive ends in order: a name is free whose last save was answered well, unless it has an unsaved text. */
  end(hasDraft: (key: string) => boolean): void
}

type Kept = MadeName & { readonly isWell: boolean }

const form = /^(\S+) (\S+) (\S+)( well)?$/
const print = ({ id, madeOf, base, isWell }: Kept): string =>
  `${id} ${madeOf} ${base}${isWell ? ' well' : ''}`

export function openMadeNames(ledger: Ledger, mountPoint: string): MadeNames {
  const room = `made names ${mountPoint}`
  /** The names of which the disk would not take the number. */
  const unkept = new Set<string>()

  function read(kept: string | undefined): Kept | undefined {
    const [, id, madeOf, base, well] = form.exec(kept ?? '') ?? []
    if (id === undefined || madeOf === undefined || base === undefined) return undefined
    return { id, madeOf, base, isWell: well !== undefined }
  }

  const keptAs = (key: string): Kept | undefined => read(ledger.get(room, key))

  function keysOf(kind: string, id: string): readonly string[] {
    const ofThis = [...ledger.entries(room)].filter(
      ([key, { value }]) => key.startsWith(`new ${kind} `) && read(value)?.id === id,
    )
    return ofThis.map(([key]) => key)
  }

  function isWritten(): boolean {
    const isDone = ledger.flush()
    if (isDone) unkept.clear()
    return isDone
  }

  return {
    of: node => keptAs(nodeKey(node)),
    note(node, made) {
      const key = nodeKey(node)
      const wasThere = keptAs(key)?.id === made.id
      ledger.set(room, key, print({ ...made, isWell: false }))
      if (!isWritten() && !wasThere) unkept.add(key)
    },
    isKept: node => !unkept.has(nodeKey(node)) || isWritten(),
    answered(node, isWell) {
      const kept = keptAs(nodeKey(node))
      if (kept === undefined || kept.isWell === isWell) return
      ledger.set(room, nodeKey(node), print({ ...kept, isWell }))
      if (!isWell) isWritten()
    },
    keysOf,
    forget(kind, id) {
      for (const key of keysOf(kind, id)) ledger.delete(room, key)
    },
    end(hasDraft) {
      for (const [key, { value }] of ledger.entries(room))
        if (read(value)?.isWell !== false && !hasDraft(key)) ledger.delete(room, key)
    },
  }
}
