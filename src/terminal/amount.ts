// Amounts for people: bytes in the unit that leaves three digits or fewer before the point, durations, numbers of files.

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

/** With commas; the tables of all languages take longer to load than many a copy. */
export const counted = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

export const filesText = (count: number): string => `${counted(count)} ${count === 1 ? 'file' : 'files'}`
