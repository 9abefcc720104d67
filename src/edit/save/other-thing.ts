// Other thing: whether the id of a draft stands for another thing now; such a text is kept and never sent.
import { Failure } from '../../failure.js'
import { type Identity, isAnotherThing } from '../../remote/remote.js'
import type { Draft } from '../journal/draft.js'
import { recordWords } from '../journal/draft-meta.js'
import type { RecordKey } from '../journal/record-key.js'

/** Keeps the draft apart from what has its id now; answers the failure to throw. */
export async function setApart(draft: Draft): Promise<Failure> {
  if (draft.meta.apart !== true) await draft.change({ apart: true })
  return anotherThing(draft.key)
}

/** True if this is another thing than the draft was begun for; false where it was not noted. */
export function isOtherThan(draft: Draft, now: Identity): boolean {
  const thing = draft.meta.thing as Identity | undefined
  return thing !== undefined && isAnotherThing(thing, now, 'loosely')
}

/** The note of a thing beside a draft: without what is not known. */
export function identityNote({ born, owner, title, parent }: Identity): NonNullable<Draft['meta']['thing']> {
  const known = Object.entries({ born, owner, title, parent }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known)
}

export function anotherThing(key: RecordKey | undefined): Failure {
  const place = key?.of === 'share' ? ' (or its project)' : ''
  return new Failure(
    'another-thing',
    `the id of ${recordWords(key)}${place} stands for another thing on the service than when this text was begun: nothing is sent`,
  )
}
