// Which record each `new*.json` has made: kept until the drive ends in order, so that after a kill its name still stands for that record.
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
  /** On disk before this returns: the draft of the new file may go then. */
  note(node: NewNode, made: MadeName): void
  /** The record is gone. */
  forget(kind: NewNode['of'], id: string): void
  /** The drive ends in order: every save was answered. */
  end(): void
}

const form = /^(\S+) (\S+) (\S+)$/

export function openMadeNames(ledger: Ledger, mountPoint: string): MadeNames {
  const room = `made names ${mountPoint}`

  function read(kept: string | undefined): MadeName | undefined {
    const [, id, madeOf, base] = form.exec(kept ?? '') ?? []
    return id === undefined || madeOf === undefined || base === undefined ? undefined : { id, madeOf, base }
  }

  return {
    of: node => read(ledger.get(room, nodeKey(node))),
    note(node, { id, madeOf, base }) {
      ledger.set(room, nodeKey(node), `${id} ${madeOf} ${base}`)
      ledger.flush()
    },
    forget(kind, id) {
      for (const [key, { value }] of ledger.entries(room))
        if (key.startsWith(`new ${kind} `) && read(value)?.id === id) ledger.delete(room, key)
    },
    end() {
      for (const key of ledger.entries(room).keys()) ledger.delete(room, key)
    },
  }
}
