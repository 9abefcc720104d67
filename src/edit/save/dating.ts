// Dating of a written text: which of the texts that were met it was made from, as the date of change that stands in it tells.
import type { JsonObject } from '../../record/json/json.js'

/** What the date in the written text says of a text that was met: it is that one's, another one's, or it tells nothing. */
export type Dating = 'its' | 'of another' | 'nothing'

/**
 * A program leaves the date as it had it, and the service sets another one at each change.
 * @param written the date as it stands in the written text
 * @param met the dates of the texts that were met; where all have the same one, this service does not set it
 */
export function datingBy(
  written: string | undefined,
  met: ReadonlyMap<JsonObject, string | undefined>,
): (record: JsonObject) => Dating {
  const dates = new Set([...met.values()].filter(date => date !== undefined))
  if (written === undefined || dates.size < 2 || !dates.has(written)) return () => 'nothing'
  return record => {
    const date = met.get(record)
    if (date === undefined) return 'nothing'
    return date === written ? 'its' : 'of another'
  }
}
