// Amounts of bytes for people: the unit that leaves three digits or fewer before the point.

const units = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** In powers of 1000, as `ls --si` shows them. */
export function bytesText(bytes: number): string {
  let value = Math.round(bytes)
  let unit = 0
  for (; value >= 999.5 && unit < units.length - 1; unit += 1) value /= 1000
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}
