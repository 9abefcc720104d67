// Refusal of a request: one sentence and the HTTP status that the API document gives for it.

/** Thrown anywhere below a route; `app.ts` turns it into `{"error": sentence}` with that status. */
export class Refusal extends Error {
  override readonly name = 'Refusal'

  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 501,
    sentence: string,
  ) {
    super(sentence)
  }
}

export const invalid = (sentence: string): Refusal => new Refusal(400, sentence)
export const missing = (sentence: string): Refusal => new Refusal(404, sentence)

/** A POST has no 404: a missing thing that its body names is invalid input. */
export function askedFor(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw error instanceof Refusal && error.status === 404 ? invalid(error.message) : error
  }
}
