// Files of a calculation: its own list, which no refusal of it alone empties, and what the service generates from them.
import { LRUCache } from 'lru-cache'
import { type DerivedName, derivedKinds, derivedNames, type SourceType } from '../../content-kinds.js'
import { asFailure, Failure, isAbsent } from '../../failure.js'
import { upTo } from '../../growing-lru.js'
import { all, chain, type MaybePromise } from '../../maybe-promise.js'
import {
  byteOffset,
  type CalculationId,
  type Content,
  type FileTitle,
  type Remote,
  type RequestContext,
  unlistedFiles,
} from '../../remote/remote.js'
import type { Query, QueryCache } from './query.js'

/** How the question for a calculation's files goes by, among listings. */
export const filesKey = (of: CalculationId): string => `files ${of}`

/**
 * The files of a calculation, or those of one type; `hadSome` says whether it is known to have had some.
 * @throws Failure 'broken', an outage, where the list alone is refused in the place of some
 */
export async function fileTitles(
  remote: Pick<Remote, 'fileTitles'>,
  {
    of,
    type,
    hadSome,
  }: { readonly of: CalculationId; readonly type: 'files' | SourceType; readonly hadSome: boolean },
  context: RequestContext,
): Promise<readonly FileTitle[]> {
  const titles = await remote.fileTitles(of, type, context)
  if (titles !== unlistedFiles || !hadSome) return titles
  throw new Failure('broken', `the service tells no files of calculation ${of} any more, and had told some`)
}

/** A list may be long, and is looked at for every name in it. */
const told = new WeakMap<readonly FileTitle[], Map<DerivedName, boolean>>()

const unmadeAtMost = 100_000

export interface DerivedFilesParts {
  filesOf(of: CalculationId): Query<readonly FileTitle[]>
  readonly lifetime: number
  /** Such a file is not listed where the service cannot make it. */
  readonly lacks: (name: DerivedName) => boolean
  /** One has to be asked for before any is listed. */
  readonly doubts: (name: DerivedName) => boolean
}

export class DerivedFiles {
  readonly #unmade = new LRUCache<string, true>(upTo(unmadeAtMost))

  constructor(
    private readonly queryCache: QueryCache,
    private readonly remote: Pick<Remote, 'fileTitles' | 'content'>,
    private readonly parts: DerivedFilesParts,
  ) {}

  /** Asks for the list of files first, which most often tells. */
  of(calculation: CalculationId, context: RequestContext): MaybePromise<readonly DerivedName[]> {
    return chain(this.queryCache.ask(this.parts.filesOf(calculation), context), titles => {
      const isThere = derivedNames.map(
        name =>
          toldByTitles(titles, name) ??
          this.queryCache.ask(this.#hasSources(calculation, derivedKinds[name].source), context),
      )
      return chain(all(isThere), answers => {
        const doubtful = derivedNames.filter(
          (name, at) => answers[at] && this.parts.doubts(name) && !this.#unmade.has(keyOf(calculation, name)),
        )
        const asked = all(doubtful.map(name => this.#askDoubtful(calculation, name, context)))
        return chain(asked, () => this.#listed(calculation, answers))
      })
    })
  }

  /** The same without any request; undefined where it is not known. */
  known(calculation: CalculationId): readonly DerivedName[] | undefined {
    const titles = this.queryCache.known(this.parts.filesOf(calculation))
    if (titles === undefined) return undefined
    const answers = derivedNames.map(
      name =>
        toldByTitles(titles, name) ??
        this.queryCache.known(this.#hasSources(calculation, derivedKinds[name].source)),
    )
    return answers.includes(undefined) ? undefined : this.#listed(calculation, answers)
  }

  /** The service cannot make this one: it is not listed until the next mount. */
  cannotMake(calculation: CalculationId, name: DerivedName): void {
    this.#unmade.set(keyOf(calculation, name), true)
  }

  /** What was told of this calculation may be about another one. */
  forget(calculation: CalculationId): void {
    for (const name of derivedNames) {
      this.queryCache.forget(this.#hasSources(calculation, derivedKinds[name].source))
      this.#unmade.delete(keyOf(calculation, name))
    }
  }

  #hasSources(of: CalculationId, type: SourceType): Query<boolean> {
    return {
      namespace: 'listing',
      key: `${type} ${of}`,
      lifetime: this.parts.lifetime,
      fetch: async context => {
        const hadSome = this.queryCache.known(this.#hasSources(of, type)) === true
        return (await fileTitles(this.remote, { of, type, hadSome }, context)).length > 0
      },
      encode: String,
      decode: (text: string) => text === 'true',
    }
  }

  #listed(calculation: CalculationId, answers: readonly (boolean | undefined)[]): readonly DerivedName[] {
    return derivedNames.filter(
      (name, at) => answers[at] && !this.parts.lacks(name) && !this.#unmade.has(keyOf(calculation, name)),
    )
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

/** Undefined where only the service knows: it may take files of other names for sources, too. */
function toldByTitles(titles: readonly FileTitle[], name: DerivedName): boolean | undefined {
  if (titles.length === 0) return false
  const known = told.get(titles) ?? new Map<DerivedName, boolean>()
  told.set(titles, known)
  const found = known.get(name) ?? titles.some(title => derivedKinds[name].isSource(title))
  known.set(name, found)
  return found || undefined
}

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
