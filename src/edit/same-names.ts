// A field that a writer gives twice: nobody can say which of the two is meant.
import { Failure } from '../failure.js'
import type { JsonObject } from '../record/json.js'

/** What the service itself gives twice may stay so. @throws Failure 'refused' */
export function refuseSameNames(base: JsonObject, mine: JsonObject): void {
  const known = twice(base)
  const fresh = twice(mine).find(name => !known.includes(name))
  if (fresh === undefined) return
  throw new Failure(
    'refused',
    `the field ${JSON.stringify(fresh)} stands there twice; keep the one that is meant`,
  )
}

function twice({ fields }: JsonObject): string[] {
  const names = fields.map(({ name }) => name)
  return names.filter((name, at) => names.indexOf(name) !== at)
}
