// Generated files that the service cannot make: a 404 of one is noted, through whatever door it was asked for.
import type { DerivedName } from '../../content-kinds.js'
import { isAbsent } from '../../failure.js'
import type { CalculationId, Content, Remote } from '../../remote/remote.js'

/** The same service; `cannotMake` is told before the one who asked hears it. */
export function withUnmadeNoted(
  remote: Remote,
  cannotMake: (of: CalculationId, name: DerivedName) => void,
): Remote {
  async function noted<Answer>({ of, calculation }: Content, answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer
    } catch (thrown) {
      if (of !== 'file' && isAbsent(thrown)) cannotMake(calculation, of)
      throw thrown
    }
  }

  return {
    ...remote,
    contentSize: (content, context) => noted(content, remote.contentSize(content, context)),
    content: (content, start, context, end, of) =>
      noted(content, remote.content(content, start, context, end, of)),
  }
}
