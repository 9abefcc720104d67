// Id in a record's text: it is neither changed nor left out.
import { Failure } from '../../failure.js'

/** @throws Failure 'refused' */
export function refuseId(what: string, written: string | undefined, own: string | undefined): void {
  if (written === own) return
  throw new Failure(
    'refused',
    written === undefined
      ? `the id is missing; keep ${own} in the text, for it says which ${what} this is`
      : `the id of a ${what} cannot be changed: it says which ${what} this is`,
  )
}
