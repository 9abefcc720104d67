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
