// Seal of a draft: length and checksum in its note, which show whether the text is still the one that was written.
import type { DraftMeta, DraftReason } from './draft-meta.js'
import { textHash } from './text-history.js'

export type Seal = NonNullable<DraftMeta['sealed']>

/** What the note keeps of a text. */
export const sealOf = (bytes: Uint8Array): Seal => ({ hash: textHash(bytes), length: bytes.length })

/**
 * What the disk has done to a text, in a sentence; undefined where it is whole. Without a checksum (a draft of an earlier
 * version, or one that a kill cut short) only a text of nothing but zeros is known to be lost: no program writes one.
 */
export function damageOf(directory: string, { sealed }: DraftMeta, bytes: Uint8Array): string | undefined {
  const left = `what is left lies in ${directory}/text`
  if (sealed === undefined) {
    const isLost = bytes.length > 0 && bytes.every(byte => byte === 0)
    return isLost
      ? `the disk has lost this text, ${bytes.length} zeros stand in its place: ${left}`
      : undefined
  }
  if (bytes.length === sealed.length && textHash(bytes) === sealed.hash) return undefined
  const lengths = `${sealed.length} bytes were written, and ${bytes.length} are there, not all of them the same`
  return `the disk has lost bytes of this text (${lengths}): ${left}`
}

/** For the note of such a text. */
export const lossWhy = (sentence: string): DraftReason => ({ kind: 'broken', sentence })
