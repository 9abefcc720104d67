// Writers: who opens and writes a record. What a process has read or stored tells what a text of it is an edit of.
import type { Call } from '../drive/interface/verbs.js'
import { isEditable } from '../drive/nodes/node.js'
import { groupOf, processOf } from '../system/process.js'
import type { Inode } from './inodes.js'

/** Nothing else needs to know it, and looking takes time. */
export const callBy = ({ node }: Inode, thread: number): Call | undefined =>
  isEditable(node) ? { process: processOf(thread) } : undefined

/** The processes that have written through one handle. */
export class Writers {
  /** By thread; undefined where the group is not known. */
  readonly #groups = new Map<number, number | undefined>()

  note(thread: number): void {
    if (!this.#groups.has(thread)) this.#groups.set(thread, groupOf(thread))
  }

  /** Whether others have written, and this thread is of none of them; one that is not known may be. */
  isAnother(thread: number): boolean {
    if (this.#groups.size === 0 || this.#groups.has(thread)) return false
    const group = groupOf(thread)
    const groups = [...this.#groups.values()]
    return group !== undefined && !groups.includes(undefined) && !groups.includes(group)
  }
}
