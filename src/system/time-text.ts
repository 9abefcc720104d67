// A moment as text: ISO 8601 for programs, local time for people.

export const isoText = (at: number): string => new Date(at).toISOString()

/** `2026-11-27 07:15:03`; of a number in milliseconds since 1970, or a text in ISO 8601. */
export function localText(at: number | string): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}
