// Lists of files: how long a service must say 404 of one before the files it stated earlier count as gone.
import { LRUCache } from 'lru-cache'
import type { SourceType } from '../../content-kinds.js'
import { Failure } from '../../failure.js'
import { upTo } from '../../growing-lru.js'
import {
  type CalculationId,
  type FileTitle,
  type Instant,
  type Remote,
  type RequestContext,
  unlistedFiles,
} from '../../remote/remote.js'
import type { Ledger } from '../ledger/ledger.js'

/** Milliseconds: a node that is just being deployed, or a copy that is behind, tells the record and not the list. */
const believedAfter = 60_000

/** How the question for a calculation's files goes by, among listings. */
export const filesKey = (of: CalculationId): string => `files ${of}`

/** The calculations whose list of files is remembered. */
export const listedCalculations = (ledger: Pick<Ledger, 'entries'>): readonly CalculationId[] =>
  [...ledger.entries('listing').keys()].flatMap(
    key => /^files (\d+)$/.exec(key)?.[1] ?? [],
  ) as CalculationId[]

export interface FileLists {
  /**
   * The files of a calculation; `hadSome` says whether it is known to have had some of that type.
   * @throws Failure 'broken', an outage, where none is told in the place of some for too short a time
   */
  titles(
    list: { readonly of: CalculationId; readonly type: 'files' | SourceType; readonly hadSome: boolean },
    context: RequestContext,
  ): Promise<readonly FileTitle[]>
}

export function openFileLists(remote: Pick<Remote, 'fileTitles'>, now: () => Instant): FileLists {
  const spells = new LRUCache<string, { readonly began: Instant; readonly last: Instant }>(upTo(10_000))
  return {
    async titles({ of, type, hadSome }, context) {
      const titles = await remote.fileTitles(of, type, context)
      const key = `${type} ${of}`
      const spell = spells.get(key)
      const isSame = spell !== undefined && now() - spell.last < believedAfter
      const began = isSame ? spell.began : now()
      if (titles !== unlistedFiles || !hadSome || now() - began >= believedAfter) {
        spells.delete(key)
        return titles
      }
      spells.set(key, { began, last: now() })
      throw new Failure(
        'broken',
        `the service tells no files of calculation ${of} any more, and had told some`,
      )
    },
  }
}
