// An answer that may be known already: a promise costs the event loop more than most answers do.

/** The value itself where nobody must be asked, else the promise of it. */
export type MaybePromise<Value> = Value | Promise<Value>

/** Goes on with the value: at once where it is there. */
export function chain<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** All of them: at once where each is there. */
export function all<Value>(values: readonly MaybePromise<Value>[]): MaybePromise<readonly Value[]> {
  return values.some(value => value instanceof Promise) ? Promise.all(values) : (values as readonly Value[])
}

/** What came of a promise that was rejected; a value that is there is itself. */
export function recover<Value, Other>(
  value: MaybePromise<Value>,
  other: (thrown: unknown) => MaybePromise<Other>,
): MaybePromise<Value | Other> {
  return value instanceof Promise ? value.catch(other) : value
}
