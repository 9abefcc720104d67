// Amounts as people read them: bytes, durations, rates.

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const
const step = 1024

export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= step && unit < units.length - 1) {
    value /= step
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
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
