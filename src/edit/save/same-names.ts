// Duplicate fields: a field that a text gives twice is refused, because either could be meant.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'

/** What the service itself gives twice may stay so. @throws Failure 'refused' */
export function refuseSameNames(base: JsonObject, mine: JsonObject): void {
  const known = duplicateNames(base)
  const fresh = [...duplicateNames(mine)].find(name => !known.has(name))
  if (fresh === undefined) return
  throw new Failure(
    'refused',
    `the field ${JSON.stringify(fresh)} stands there twice; keep the one that is meant`,
  )
}

function duplicateNames({ fields }: JsonObject): ReadonlySet<string> {
  const met = new Set<string>()
  const again = new Set<string>()
  for (const { name } of fields) (met.has(name) ? again : met).add(name)
  return again
}
