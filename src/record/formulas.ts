// Formulas of a report's configuration: calculations by place (c1 = the first) and, in a graph, by id.
import { diffArrays } from 'diff'

/** The formulas of a configuration, an XML text; unknown parts of it are not looked at. */
export interface Formulas {
  /** The places N of every cN, each once, in the order they come. */
  readonly places: readonly number[]
  /** The calculation ids in a graph's `cid_formula`. */
  readonly ids: readonly string[]
  /** The texts they stand in, in the order they come: of steps, with places, and of a graph, with ids. */
  readonly steps: readonly Formula[]
  readonly graph: readonly Formula[]
  /** The texts of all of them. */
  readonly texts: readonly string[]
}

export interface Formula {
  readonly text: string
  /** The tag with attributes that it stands behind, where no other formula is between them. */
  readonly label: string | undefined
}

/** A tag with quoted attributes; the text of a CDATA section is text. Formulas stand between tags. */
export const tag = /<!--[\s\S]*?-->|<!\[CDATA\[|\]\]>|<(?:[^<>"']|"[^"]*"|'[^']*')*>/g
/** A calculation by its place: c1 is the first. */
export const place = /(?<![\w.])c([1-9][0-9]*)(?!\w)/g
const graphFormula = /cid_formula["']?\s*[=:>]\s*["']?([^"'<>,}]*)/g
const wholeNumber = /(?<![\w.])[0-9]+(?![\w.])/g

export function formulasIn(configuration: string): Formulas {
  const graph = [...configuration.matchAll(graphFormula)]
    .map(([, text = '']) => ({ text: text.trim(), label: undefined }))
    .filter(({ text }) => text !== '')
  return formulasOf(stepsIn(configuration), graph)
}

const tagWithAttributes = /^<[^!/?][^"']*["']/

function stepsIn(configuration: string): readonly Formula[] {
  const steps: Formula[] = []
  let label: string | undefined
  let from = 0
  const take = (end: number): void => {
    const text = configuration.slice(from, end)
    if (text.search(place) < 0) return
    steps.push({ text: text.trim(), label })
    label = undefined
  }
  for (const { 0: found, index } of configuration.matchAll(tag)) {
    take(index)
    if (tagWithAttributes.test(found)) label = found
    from = index + found.length
  }
  take(configuration.length)
  return steps
}

function formulasOf(steps: readonly Formula[], graph: readonly Formula[]): Formulas {
  const places = steps.flatMap(({ text }) => [...text.matchAll(place)].map(([, digits]) => Number(digits)))
  return {
    places: [...new Set(places)],
    ids: [...new Set(graph.flatMap(({ text }) => text.match(wholeNumber) ?? []))],
    steps,
    graph,
    texts: [...steps, ...graph].map(({ text }) => text),
  }
}

/** Those that an edit of the configuration has left as they were, in their place among the others. */
export function untouchedFormulas(before: Formulas, after: Formulas): Formulas {
  return formulasOf(kept(before.steps, after.steps), kept(before.graph, after.graph))
}

/** A label that stands once in both tells which formula is which, wherever it stands; the others are told by their order. */
function kept(before: readonly Formula[], after: readonly Formula[]): readonly Formula[] {
  const [named, renamed] = [byOwnLabel(before), byOwnLabel(after)]
  const isOfBoth = ({ label }: Formula): boolean =>
    label !== undefined && named.has(label) && renamed.has(label)
  const byLabel = after.filter(one => isOfBoth(one) && named.get(one.label ?? '')?.text === one.text)
  const [left, written] = [before, after].map(all => all.filter(one => !isOfBoth(one)))
  return [...byLabel, ...keptInOrder(left ?? [], written ?? [])]
}

function byOwnLabel(formulas: readonly Formula[]): ReadonlyMap<string, Formula> {
  const found = new Map<string, Formula>()
  const twice = new Set<string>()
  for (const one of formulas) {
    if (one.label === undefined) continue
    if (found.has(one.label)) twice.add(one.label)
    found.set(one.label, one)
  }
  for (const label of twice) found.delete(label)
  return found
}

const diffPatienceMs = 500

/** Of lists of one length what stands at the same place in both; else what a comparison leaves of the earlier one. */
function keptInOrder(before: readonly Formula[], after: readonly Formula[]): readonly Formula[] {
  if (before.length === after.length) return after.filter(({ text }, at) => text === before[at]?.text)
  const comparator = (one: Formula, other: Formula): boolean => one.text === other.text
  const parts = diffArrays([...before], [...after], { comparator, timeout: diffPatienceMs })
  if (parts !== undefined)
    return parts.filter(part => !part.added && !part.removed).flatMap(({ value }) => value)
  // Too many to be compared: each that stood there is taken for one that was left as it was.
  const texts = new Set(before.map(({ text }) => text))
  return after.filter(({ text }) => texts.has(text))
}
