// How a promise of failure is checked: the kind of the Failure, and that it is one.
import type { Test } from 'tap'
import { Failure, type FailureKind } from '../../src/failure.js'

/** Holds if the promise rejects with a Failure of this kind; gives it back for more questions. */
export async function failsAs(t: Test, kind: FailureKind, promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    t.equal(thrown.kind, kind, thrown.message)
    return thrown
  }
  t.fail(`nothing failed, where '${kind}' is due`)
  return new Failure('internal', 'nothing failed')
}
