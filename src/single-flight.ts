// Single-flight: callers that ask at the same time share one answer.

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
