// File name of a kept content: a hash, because titles are any text at all.
import { hash } from 'node:crypto'
import type { Content } from '../../../remote/remote.js'

/** One text per content, cheap enough for every read; the title stands last, so that no two contents share a text. */
export function contentKeyOf({ of, calculation, mark = '', title }: Content): string {
  return `${of}\0${calculation}${mark === '' ? '' : `/${mark}`}\0${title}`
}

/** The file name of a content: 64 hexadecimal digits. UTF-16 is hashed, where lone surrogates stay different. */
export function contentFileName(key: string): string {
  return hash('sha256', Buffer.from(key, 'utf16le'))
}

export const fileNameForm = /^[0-9a-f]{64}$/
