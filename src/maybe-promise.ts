// A value or its promise, for a promise costs the event loop more than computing most answers; and one promise for all that ask at a time.

/** The value itself where it is known, else the promise of it. */
export type MaybePromise<Value> = Value | Promise<Value>

/** Continues with the value: synchronously where it is there. */
export function chain<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** All of them, in their order: synchronously where each is there. */
export function all<Values extends readonly unknown[] | []>(
  values: Values,
): MaybePromise<{ -readonly [At in keyof Values]: Awaited<Values[At]> }> {
  if (values.some(value => value instanceof Promise)) return Promise.all(values)
  return values as { -readonly [At in keyof Values]: Awaited<Values[At]> }
}

/** Handles a rejected promise; a present value is returned unchanged. */
export function recover<Value, Other>(
  value: MaybePromise<Value>,
  other: (thrown: unknown) => MaybePromise<Other>,
): MaybePromise<Value | Other> {
  return value instanceof Promise ? value.catch(other) : value
}

/** The value of a call, or the error that it threw at once. */
export type Outcome<Value> = { readonly value: MaybePromise<Value> } | { readonly thrown: unknown }

/** Calls it, apart from what follows: an answer must not be given twice. */
export function outcomeOf<Value>(ask: () => MaybePromise<Value>): Outcome<Value> {
  try {
    return { value: ask() }
  } catch (thrown) {
    return { thrown }
  }
}

/** Handles what is thrown at once or later. */
export function attempt<Value>(
  ask: () => MaybePromise<Value>,
  other: (thrown: unknown) => MaybePromise<Value>,
): MaybePromise<Value> {
  try {
    return recover(ask(), other)
  } catch (thrown) {
    return other(thrown)
  }
}

/** Callers that ask at the same time share one answer. */
export class SingleFlight<Answer> {
  #flight: Promise<Answer> | undefined

  get isUnderWay(): boolean {
    return this.#flight !== undefined
  }

  /** The answer on its way, or that of the question, asked now. */
  ask(question: () => Promise<Answer>): Promise<Answer> {
    this.#flight ??= question().finally(() => {
      this.#flight = undefined
    })
    return this.#flight
  }
}
