// Content part: a MiB of a content with what is known of the whole, as it lies in the fleet.
import type { ContentVersion } from '../remote/remote.js'

/** Bytes of a part; a content that is no longer is one part. */
export const partBytes = 1 << 20

export interface ContentPart {
  /** Of the whole content. */
  readonly length: number
  readonly version: ContentVersion | undefined
  readonly bytes: Buffer
}

export const partBase = (position: number): number => position - (position % partBytes)

/** In pieces: a MiB is not copied for its head. */
export function partForm({ length, version }: Omit<ContentPart, 'bytes'>): Buffer {
  const text = Buffer.from(JSON.stringify({ length, version }), 'utf8')
  const size = Buffer.alloc(4)
  size.writeUInt32LE(text.length)
  return Buffer.concat([size, text])
}

/** Undefined for a part that has not the bytes which its content has from there on. */
export function partIn(plain: Buffer, base: number): ContentPart | undefined {
  const end = 4 + plain.readUInt32LE(0)
  const head = JSON.parse(plain.subarray(4, end).toString('utf8')) as Omit<ContentPart, 'bytes'>
  const bytes = plain.subarray(end)
  const due = Math.min(partBytes, head.length - base)
  return bytes.length === due ? { ...head, bytes } : undefined
}

/** Whether it is the version that was asked for, where both say which they are. */
export function isOf(version: ContentVersion | undefined, of: ContentVersion | undefined): boolean {
  if (of === undefined) return true
  if (of.tag !== undefined && version?.tag !== undefined) return of.tag === version.tag
  return of.modified !== undefined && of.modified === version?.modified
}

export const tellsVersion = (version: ContentVersion | undefined): boolean =>
  (version?.tag ?? version?.modified) !== undefined
