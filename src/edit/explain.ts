// Why a text is still a draft: written down beside it when a save fails, and told to people in their words.
import { Failure } from '../failure.js'
import type { Draft } from './draft.js'
import { whyOf } from './meta.js'

/**
 * Writes the failure down beside the draft and answers the one to throw. A request that may have been carried out
 * leaves the draft 'in-flight', everything else 'refused'.
 */
export async function withFailure(draft: Draft, failure: Failure): Promise<Failure> {
  const wasSent = draft.meta.state === 'sending' || draft.meta.state === 'in-flight'
  try {
    await draft.change({ state: wasSent ? 'in-flight' : 'refused', why: whyOf(failure) })
    return failure
  } catch (cause) {
    const sentence = `${failure.message}; this could not be written down beside the draft`
    return new Failure(failure.kind, sentence, {
      cause: new AggregateError([failure, cause]),
      said: failure.said,
    })
  }
}

/** For `calcfs why`: what was tried, what the service said, what to do; undefined while nothing is wrong. */
export function explain(draft: Draft): string | undefined {
  const { why, key, state } = draft.meta
  if (why === undefined) return undefined
  const record = key === undefined ? 'A record' : `The ${key.kind} ${key.id}`
  const lines = [`${record} was not saved: ${why.sentence}.`]
  if (state === 'in-flight')
    lines.push('It was sent, and nobody could see whether the service has stored it.')
  if (why.said !== undefined) lines.push(`The service said: ${why.said}`)
  if (why.line !== undefined) lines.push(`The place: line ${why.line}, column ${why.column}.`)
  lines.push(why.whatToDo, `The text: ${draft.directory}/text`)
  return `${lines.join('\n')}\n`
}
