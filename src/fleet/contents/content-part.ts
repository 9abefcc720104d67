// Content part: a MiB of a content with what is known of the whole, as it lies in the fleet.
import type { ContentVersion } from '../../remote/remote.js'

/** Bytes of a part; a content that is no longer is one part. */
export const partBytes = 1 << 20

export interface ContentPart {
  /** Of the whole content. */
  readonly length: number
  readonly version: ContentVersion | undefined
  readonly bytes: Buffer
}

/** How many bytes the part has that begins there. */
export const dueFrom = (base: number, length: number): number =>
  Math.max(0, Math.min(partBytes, length - base))

/** In two pieces: a MiB is not copied for its head. */
export function partForm({ bytes, ...head }: ContentPart): readonly [head: Buffer, bytes: Buffer] {
  const text = Buffer.from(JSON.stringify(head), 'utf8')
  const size = Buffer.alloc(4)
  size.writeUInt32LE(text.length)
  return [Buffer.concat([size, text]), bytes]
}

/** Undefined for what is no part that begins there. */
export function partIn(plain: Buffer, base: number): ContentPart | undefined {
  try {
    const end = 4 + plain.readUInt32LE(0)
    const { length, version } = JSON.parse(plain.subarray(4, end).toString('utf8')) as Omit<
      ContentPart,
      'bytes'
    >
    const bytes = plain.subarray(end)
    if (!Number.isSafeInteger(length) || length < 0 || bytes.length !== dueFrom(base, length))
      return undefined
    return { length, version, bytes }
  } catch {
    return undefined
  }
}

/** Whether it is the version that was asked for, where both say which they are. */
export function isOf(version: ContentVersion | undefined, of: ContentVersion | undefined): boolean {
  if (of === undefined) return true
  if (of.tag !== undefined && version?.tag !== undefined) return of.tag === version.tag
  return of.modified !== undefined && of.modified === version?.modified
}

export const tellsVersion = (version: ContentVersion | undefined): boolean =>
  (version?.tag ?? version?.modified) !== undefined
