// A pin in one line: what it is, how much of it is here, and why not all.
import { bytesText } from './amount.js'

/** As a drive's status and its control tell it. */
export interface PinFacts {
  readonly path: string
  readonly state: string
  readonly because?: string | undefined
  readonly files: number
  readonly filesKept: number
  readonly bytes: number
  readonly bytesKept: number
}

/** Without a full stop. */
export function pinText({ path, state, because, ...amounts }: PinFacts): string {
  const why = because === undefined ? '' : `: ${because}`
  if (state === 'whole')
    return `${path} is kept whole: ${filesText(amounts.files)}, ${bytesText(amounts.bytes)}`
  if (state === 'gone') return `${path} is gone on the service, and nothing is kept of it${why}`
  return `${path} is ${words[state] ?? state}, ${partText(amounts)}${why}`
}

const words: Readonly<Record<string, string>> = {
  looking: 'being looked at',
  fetching: 'being fetched',
  waiting: 'waiting',
  incomplete: 'not whole',
}

function partText({ files, filesKept, bytes, bytesKept }: Omit<PinFacts, 'path' | 'state'>): string {
  if (files === 0) return 'nothing of it is known here yet'
  if (bytes === bytesKept) return `${filesKept} of ${filesText(files)}, ${bytesText(bytes)}, are here`
  return `${filesKept} of ${filesText(files)} and ${bytesText(bytesKept)} of ${bytesText(bytes)} are here`
}

export const filesText = (count: number): string => `${count} ${count === 1 ? 'file' : 'files'}`
