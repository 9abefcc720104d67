// Derived files: which files the service generates from a calculation's own ones, by its list of files or a list of the sources alone.
import { LRUCache } from 'lru-cache'
import { type DerivedName, derivedKinds, derivedNames, type SourceType } from '../../content-kinds.js'
import { upTo } from '../../growing-lru.js'
import { all, chain, type MaybePromise } from '../../maybe-promise.js'
import type { CalculationId, FileTitle, Remote, RequestContext } from '../../remote/remote.js'
import { fileTitles } from './file-lists.js'
import type { Query, QueryCache } from './query.js'

export interface DerivedFiles {
  /** Asks for the list of files first, which most often tells. */
  of(calculation: CalculationId, context: RequestContext): MaybePromise<readonly DerivedName[]>
  /** The same without any request; undefined where it is not known. */
  known(calculation: CalculationId): readonly DerivedName[] | undefined
  /** The service cannot make this one: it is not listed until the next mount. */
  cannotMake(calculation: CalculationId, name: DerivedName): void
  /** What was told of this calculation may be about another one. */
  forget(calculation: CalculationId): void
}

/** A list may be long, and is looked at for every name in it. */
const told = new WeakMap<readonly FileTitle[], Map<DerivedName, boolean>>()

const unmadeAtMost = 100_000

export function openDerivedFiles(
  queryCache: QueryCache,
  remote: Pick<Remote, 'fileTitles'>,
  {
    filesOf,
    lifetime,
    lacks,
  }: {
    filesOf(of: CalculationId): Query<readonly FileTitle[]>
    readonly lifetime: number
    /** Such a file is not listed where the service cannot make it. */
    readonly lacks: (name: DerivedName) => boolean
  },
): DerivedFiles {
  const hasSources = (of: CalculationId, type: SourceType): Query<boolean> => ({
    namespace: 'listing',
    key: `${type} ${of}`,
    lifetime,
    async fetch(context) {
      const hadSome = queryCache.known(hasSources(of, type)) === true
      return (await fileTitles(remote, { of, type, hadSome }, context)).length > 0
    },
    encode: String,
    decode: (text: string) => text === 'true',
  })

  const unmade = new LRUCache<string, true>(upTo(unmadeAtMost))
  const keyOf = (calculation: CalculationId, name: DerivedName) => `${name} ${calculation}`
  const listed = (calculation: CalculationId, answers: readonly (boolean | undefined)[]) =>
    derivedNames.filter((name, at) => answers[at] && !lacks(name) && !unmade.has(keyOf(calculation, name)))

  return {
    of: (calculation, context) =>
      chain(queryCache.ask(filesOf(calculation), context), titles => {
        const isThere = derivedNames.map(
          name =>
            toldByTitles(titles, name) ??
            queryCache.ask(hasSources(calculation, derivedKinds[name].source), context),
        )
        return chain(all(isThere), answers => listed(calculation, answers))
      }),
    known(calculation) {
      const titles = queryCache.known(filesOf(calculation))
      if (titles === undefined) return undefined
      const answers = derivedNames.map(
        name =>
          toldByTitles(titles, name) ?? queryCache.known(hasSources(calculation, derivedKinds[name].source)),
      )
      return answers.includes(undefined) ? undefined : listed(calculation, answers)
    },
    cannotMake: (calculation, name) => void unmade.set(keyOf(calculation, name), true),
    forget(calculation) {
      for (const name of derivedNames) {
        queryCache.forget(hasSources(calculation, derivedKinds[name].source))
        unmade.delete(keyOf(calculation, name))
      }
    },
  }
}

/** Undefined where only the service knows: it may take files of other names for sources, too. */
function toldByTitles(titles: readonly FileTitle[], name: DerivedName): boolean | undefined {
  if (titles.length === 0) return false
  const known = told.get(titles) ?? new Map<DerivedName, boolean>()
  told.set(titles, known)
  const found = known.get(name) ?? titles.some(title => derivedKinds[name].isSource(title))
  known.set(name, found)
  return found || undefined
}
