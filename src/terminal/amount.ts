// Amounts for people: bytes in the unit that leaves three digits or fewer before the point, durations, shares, how much of a pin is here, what a fleet saves, that nothing waits.

const units = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** In powers of 1000, as `ls --si` shows them. */
export function bytesText(bytes: number): string {
  let value = Math.round(bytes)
  let unit = 0
  for (; value >= 999.5 && unit < units.length - 1; unit += 1) value /= 1000
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

export function durationText(milliseconds: number): string {
  if (milliseconds < second) return `${Math.round(milliseconds)} ms`
  if (milliseconds < minute) return `${(milliseconds / second).toFixed(1)} s`
  if (milliseconds < hour) return `${Math.floor(milliseconds / minute)} min`
  return `${Math.floor(milliseconds / hour)} h ${Math.floor((milliseconds % hour) / minute)} min`
}

export const percentText = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${Math.floor((100 * part) / whole)} %`

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

/** Of a drive with no unsaved edit; a program whose write failed left none where the drive's own directories are in trouble. */
export const nothingWaits = (troubles: readonly string[]): string =>
  troubles.length === 0 ? 'everything is saved' : 'no edit waits to be saved'

/** As a drive's status tells it; `saved` and `asked` are those of one mount. */
export interface FleetFacts {
  readonly address: string
  readonly mounts: number
  readonly saved: number
  readonly asked: number
  readonly passedByBecause?: string | undefined
}

/** Without a full stop. */
export function fleetText({ address, mounts, saved, asked, passedByBecause }: FleetFacts): string {
  const savings = `${saved} of ${saved + asked} requests saved by it`
  return passedByBecause === undefined
    ? `the fleet ${address} has ${mounts} ${mounts === 1 ? 'mount' : 'mounts'}, ${savings} here`
    : `the fleet ${address} is passed by: ${passedByBecause}; the service is asked alone (${savings} before)`
}
