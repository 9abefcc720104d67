// How much of the room for answers one answer takes.
import { treeBytes } from '../../record/json/weight.js'
import type { LedgerValue } from '../ledger/table.js'
import type { Query } from './query.js'

/** An answer that is no listing takes as much memory as a name for so many bytes of its tree. */
const bytesOfName = 256
/** An answer takes as much memory as so many names, whatever is in it. */
const namesOfAnswer = 12

/** In names, of `most`. A big list and a big record have room beside each other, and two big records have not. */
export function answerWeight<Answer>(
  query: Query<Answer>,
  answer: Answer,
  form: LedgerValue,
  most: number,
): number {
  const names = query.names?.(answer)
  const [weight, share] =
    names === undefined ? [Math.ceil((query.bytes ?? formBytes)(form) / bytesOfName), 0.6] : [names, 0.4]
  return Math.max(1, Math.min(weight + namesOfAnswer, Math.floor(most * share)))
}

const formBytes = (form: LedgerValue): number => (typeof form === 'string' ? treeBytes(form) : form.length)
