// What of a record the model follows, and how the save of an edit must end: the plain rules, without a draft or a cache in sight.
import { createHash } from 'node:crypto'

export type Kind = 'report' | 'project' | 'calculation' | 'share'

/** Where a row says which place it has; two rows are the same whatever it says. */
export const place = Symbol('place')

/** One entry of a report's list. */
export interface Row {
  readonly calculation: string
  readonly title: string | null
  readonly [place]?: number
}

/** The fields of a record that are followed, in a fixed order; a report's list is the field `calculations`. */
export type Content = Readonly<Record<string, unknown>>

const followed: Readonly<Record<Kind, readonly string[]>> = {
  report: ['name', 'title', 'description', 'configuration', 'reportType', 'calculations'],
  project: ['name', 'description'],
  calculation: ['name', 'description'],
  share: ['user', 'permission'],
}

/** What a text says; undefined where it is no JSON. */
export function contentIn(kind: Kind, text: string): Content | undefined {
  try {
    const record = JSON.parse(text) as Record<string, unknown>
    return Object.fromEntries(
      followed[kind].map(name => [name, name === 'calculations' ? rowsIn(record[name]) : record[name]]),
    )
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

function rowsIn(list: unknown): Row[] {
  if (!Array.isArray(list)) return []
  return list.map(item => {
    if (typeof item !== 'object') return { calculation: String(item), title: null }
    return { calculation: String(item.calcId), title: item.title ?? null, [place]: item.calcOrder }
  })
}

export const rowsOf = (content: Content): readonly Row[] => (content['calculations'] ?? []) as readonly Row[]
/** The cells of each line of `order.txt` that says something. */
export const cellsIn = (text: string): string[][] =>
  text.split('\n').flatMap(line => (line.trim() === '' ? [] : [line.split('\t')]))
export const printed = (value: unknown): string => JSON.stringify(value)
export const same = (one: unknown, other: unknown): boolean => printed(one) === printed(other)

/** A short name of a text, for messages. */
export const mark = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 6)

/** The fields in which a text differs from another. */
export function edited(base: Content, mine: Content): readonly string[] {
  return Object.keys(mine).filter(name => !agree(name, base, mine))
}

/** The errnos that say that the service is away. */
export const away = ['EHOSTUNREACH', 'ETIMEDOUT'] as const
/** A thing that another client has deleted. */
export const gone = ['ENOENT', 'EINVAL'] as const

export interface Edit {
  readonly kind: Kind
  /** What the program had before. */
  readonly base: Content
  readonly mine: Content
  /** What the service has; undefined where another client has deleted it. */
  readonly truth: Content | undefined
  readonly isUp: boolean
  /** Calculations that exist. */
  readonly existing: ReadonlySet<string>
}

export interface Verdict {
  /** 'done' or errnos; each of these may come. */
  readonly allowed: readonly string[]
  /** What the service has where it ends with 'done'. */
  readonly after: Content | undefined
}

/** How a save ends where this was its base. */
export function judge(edit: Edit): Verdict {
  const { base, mine, truth, isUp } = edit
  const names = edited(base, mine)
  if (names.length === 0) return { allowed: ['done'], after: truth }
  const problems = [...flaws(edit, names), ...(isUp ? [] : away)]
  if (truth === undefined) return { allowed: [...problems, ...gone], after: undefined }
  const conflicts = names.filter(name => !same(truth[name], base[name]) && !agree(name, truth, mine))
  if (conflicts.length > 0) problems.push('ESTALE')
  const after = { ...truth, ...Object.fromEntries(names.map(name => [name, mine[name]])) }
  if (meansOther(truth, mine, after)) problems.push('EINVAL', 'ESTALE')
  if (problems.length > 0) return { allowed: problems, after: undefined }
  // Two equal changes of a list may have numbered its places differently.
  const isListTwice = names.includes('calculations') && !same(rowsOf(truth), rowsOf(base))
  return { allowed: isListTwice ? ['done', 'ESTALE'] : ['done'], after }
}

/**
 * How a save may end: the base is the text with the fewest differing fields, so another one that was met here may be
 * taken for it where it is as near; in doubt ESTALE. What the service does not have is never taken for unchanged.
 */
export function judgeAll(
  edit: Edit,
  { others, inDoubt }: { readonly others: readonly Content[]; readonly inDoubt: boolean },
): readonly Verdict[] {
  const own = judge(edit)
  if (!inDoubt) return [own]
  const isEdit = edited(edit.base, edit.mine).length > 0
  const isThere = edit.truth !== undefined && edited(edit.truth, edit.mine).length === 0
  const rest = others.filter(base => !isEdit || isThere || edited(base, edit.mine).length > 0)
  const doubt = { allowed: ['ESTALE', ...(edit.isUp ? [] : away)], after: undefined }
  return [own, ...rest.map(base => judge({ ...edit, base })), doubt]
}

/** Both have the same value; a row without a given title states no title. */
function agree(name: string, truth: Content, mine: Content): boolean {
  if (name !== 'calculations') return same(truth[name], mine[name])
  const there = rowsOf(truth)
  const rows = rowsOf(mine).map((row, at) => (row.title === null ? { ...row, title: there[at]?.title } : row))
  return same(there, rows)
}

/** What is refused before it is sent. */
function flaws({ kind, base, mine, truth = base, existing }: Edit, names: readonly string[]): string[] {
  const found: string[] = []
  if (kind === 'share' && !['READ', 'WRITE', 'FULLACCESS'].includes(String(mine['permission'])))
    found.push('EINVAL')
  if (names.includes('reportType') && !['1', '2', '3'].includes(String(mine['reportType'])))
    found.push('EINVAL')
  const there = new Set(rowsOf(truth).map(row => row.calculation))
  const strangers = rowsOf(mine).filter(row => !there.has(row.calculation) && !existing.has(row.calculation))
  if (names.includes('calculations') && strangers.length > 0) found.push('EINVAL')
  return found
}

/** Whether a cN of the formulas would name another calculation than where it was written. */
function meansOther(truth: Content, mine: Content, after: Content): boolean {
  const formulas = String(after['configuration'] ?? '')
  const isMine = !same(after['configuration'], truth['configuration'])
  const before = placesOf(rowsOf(isMine ? mine : truth))
  // Only another order is renumbered; a row deleted elsewhere leaves its place empty.
  const isSameOrder = same(idsOf(truth), idsOf(after))
  const now = isSameOrder ? placesOf(rowsOf(truth)) : idsOf(after)
  const places = [...formulas.matchAll(/\bc(\d+)\b/g)].map(found => Number(found[1]) - 1)
  return places.some(at => before[at] !== undefined && before[at] !== now[at])
}

const idsOf = (content: Content): string[] => rowsOf(content).map(row => row.calculation)

function placesOf(rows: readonly Row[]): readonly (string | undefined)[] {
  const calculations = new Map(rows.map((row, at) => [row[place] ?? at + 1, row.calculation]))
  return Array.from({ length: Math.max(0, ...calculations.keys()) }, (_, at) => calculations.get(at + 1))
}
