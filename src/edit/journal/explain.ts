// Explanation of a draft: written beside it when a save fails, in the user's words.
import { Failure } from '../../failure.js'
import type { Draft } from './draft.js'
import { type DraftState, whatToDo, whyOf } from './draft-meta.js'
import { damagedEnding, draftName } from './draft-name.js'
import { type RecordKey, recordPhrase } from './record-key.js'

/**
 * Writes the failure down beside the draft and answers the one to throw. A request that may have been carried out
 * leaves the draft 'in-flight', everything else 'refused'.
 */
export async function withFailure(draft: Draft, failure: Failure): Promise<Failure> {
  const wasSent = draft.meta.state === 'sending' || draft.meta.state === 'in-flight'
  return withFailureAs(wasSent ? 'in-flight' : 'refused', draft, failure)
}

/** The same where it is known what became of the request. */
export async function withFailureAs(state: DraftState, draft: Draft, failure: Failure): Promise<Failure> {
  // "Your text is kept" holds over a power cut as well. Where the disk refuses that, the state holds in memory all the same.
  const synced = await settled(draft.sync())
  const noted = await settled(draft.change({ state, why: whyOf(failure) }))
  if (synced.status === 'fulfilled' && noted.status === 'fulfilled') return failure
  const causes = [synced, noted].flatMap(end => (end.status === 'rejected' ? [end.reason] : []))
  const sentence = `${failure.message}; this could not be written down beside the draft`
  return new Failure(failure.kind, sentence, {
    cause: new AggregateError([failure, ...causes]),
    said: failure.said,
  })
}

async function settled(work: Promise<void>): Promise<PromiseSettledResult<void>> {
  const [end] = await Promise.allSettled([work])
  return end
}

/**
 * For `calcfs why`: what was tried, what the service said, what to do; undefined while nothing is wrong. `listed` is the name that
 * it has in lists, where that is known.
 */
export function explain(
  draft: Pick<Draft, 'id' | 'directory' | 'key' | 'meta' | 'damage'>,
  listed?: string,
): string | undefined {
  const { why, key, state } = draft.meta
  if (why === undefined) return undefined
  const lines = [`${capital(recordWords(key))} was not saved: ${why.sentence}.`]
  if (state === 'in-flight')
    lines.push('It was sent, and whether the service has stored it could not be seen.')
  if (why.said !== undefined) lines.push(`The service said: ${why.said}`)
  if (why.line !== undefined) lines.push(`The place: line ${why.line}, column ${why.column}.`)
  const usual = draftName(key, draft.id) + (draft.damage === undefined ? '' : damagedEnding)
  const name = listed ?? usual
  const last = [whatToDo(draft, name), `The draft: ${name}`, `The text: ${draft.directory}/text`]
  return `${[...lines, ...last].join('\n')}\n`
}

/** The record in a sentence. */
export function recordWords(key: RecordKey | undefined): string {
  if (key === undefined) return 'a record'
  return `the ${key.as === 'new' ? 'new ' : ''}${recordPhrase(key)}`
}

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)
