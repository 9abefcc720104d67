// Single-flight: callers that ask at the same time share one answer.

export interface SingleFlight<Answer> {
  /** The answer on its way, or that of the question, asked now. */
  ask(question: () => Promise<Answer>): Promise<Answer>
  readonly isUnderWay: boolean
}

export function openSingleFlight<Answer>(): SingleFlight<Answer> {
  let flight: Promise<Answer> | undefined

  return {
    ask(question) {
      flight ??= question().finally(() => {
        flight = undefined
      })
      return flight
    },
    get isUnderWay() {
      return flight !== undefined
    },
  }
}
