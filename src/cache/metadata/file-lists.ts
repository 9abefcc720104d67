// Lists of files: those that were listed once are not gone by a refusal of their list alone.
import type { SourceType } from '../../content-kinds.js'
import { Failure } from '../../failure.js'
import {
  type CalculationId,
  type FileTitle,
  type Remote,
  type RequestContext,
  unlistedFiles,
} from '../../remote/remote.js'
import type { Ledger } from '../ledger/ledger.js'

/** How the question for a calculation's files goes by, among listings. */
export const filesKey = (of: CalculationId): string => `files ${of}`

/** The calculations whose list of files is remembered. */
export const listedCalculations = (ledger: Pick<Ledger, 'entries'>): readonly CalculationId[] =>
  [...ledger.entries('listing').keys()].flatMap(
    key => /^files (\d+)$/.exec(key)?.[1] ?? [],
  ) as CalculationId[]

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
