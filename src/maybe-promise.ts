// An answer that may be known already: a promise costs the event loop more than most answers do.

/** The value itself where nobody must be asked, else the promise of it. */
export type Soon<Value> = Value | Promise<Value>

/** Goes on with the value: at once where it is there. */
export function after<Value, Next>(soon: Soon<Value>, next: (value: Value) => Soon<Next>): Soon<Next> {
  return soon instanceof Promise ? soon.then(next) : next(soon)
}
