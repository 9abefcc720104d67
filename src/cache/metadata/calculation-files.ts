// Generated files of a calculation: which the service makes of its own ones, told by their names.
import { type DerivedName, derivedKinds, derivedNames } from '../../content-kinds.js'
import { asFailure, Failure, isAbsent } from '../../failure.js'
import { all, chain, type MaybePromise } from '../../maybe-promise.js'
import { foundOnce, RecentMap } from '../../recent-map.js'
import {
  byteOffset,
  type CalculationId,
  type Content,
  type FileTitle,
  type Remote,
  type RequestContext,
} from '../../remote/remote.js'

const unmadeAtMost = 100_000

/** The files that the service makes of those. A list may be long, and is looked at for every name in it. */
const madeOf = foundOnce((titles: readonly FileTitle[]) =>
  derivedNames.filter(name => titles.some(title => derivedKinds[name].isSource(title))),
)

export class DerivedFiles {
  readonly #unmade = new RecentMap<string, true>(unmadeAtMost)

  /**
   * @param lacks such a file is not listed where the service cannot make it
   * @param doubts one has to be asked for before any is listed
   */
  constructor(
    private readonly remote: Pick<Remote, 'content'>,
    private readonly lacks: (name: DerivedName) => boolean,
    private readonly doubts: (name: DerivedName) => boolean,
  ) {}

  of(
    calculation: CalculationId,
    titles: readonly FileTitle[],
    context: RequestContext,
  ): MaybePromise<readonly DerivedName[]> {
    const made = madeOf(titles)
    if (!made.some(this.doubts)) return this.known(calculation, titles)
    const doubtful = made.filter(name => this.doubts(name) && !this.#unmade.has(keyOf(calculation, name)))
    const asked = all(doubtful.map(name => this.#askDoubtful(calculation, name, context)))
    return chain(asked, () => this.known(calculation, titles))
  }

  /** The same without any request. */
  known(calculation: CalculationId, titles: readonly FileTitle[]): readonly DerivedName[] {
    return madeOf(titles).filter(name => !this.lacks(name) && !this.#unmade.has(keyOf(calculation, name)))
  }

  /** The service cannot make this one: it is not listed until the next mount. */
  cannotMake(calculation: CalculationId, name: DerivedName): void {
    this.#unmade.set(keyOf(calculation, name), true)
  }

  /** The facts of this calculation may be about another one. */
  forget(calculation: CalculationId): void {
    for (const name of derivedNames) this.#unmade.delete(keyOf(calculation, name))
  }

  /** An outage tells nothing: what was never made here stays left out. */
  async #askDoubtful(of: CalculationId, name: DerivedName, context: RequestContext): Promise<void> {
    const title = `${of}${derivedKinds[name].ending}` as FileTitle
    const content = { of: name, calculation: of, title }
    const answer = await this.remote.content(content, byteOffset(0), context).catch(asFailure)
    if (!(answer instanceof Failure)) answer.cancel()
    else if (isAbsent(answer)) this.cannotMake(of, name)
  }
}

const keyOf = (calculation: CalculationId, name: DerivedName): string => `${name} ${calculation}`

/** The same service; a 404 of a generated file is told to `cannotMake` before the one who asked hears it. */
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
