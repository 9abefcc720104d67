// What a report's configuration computes with: calculations by place (c1 = the first) and, in a graph, by id.

/** The formulas of a configuration, an XML text; unknown parts of it are not looked at. */
export interface Formulas {
  /** The places N of every cN, each once, in the order they come. */
  readonly places: readonly number[]
  /** The calculation ids in a graph's `cid_formula`. */
  readonly ids: readonly string[]
  /** The texts they stand in, in the order they come: of steps, with places, and of a graph, with ids. */
  readonly steps: readonly string[]
  readonly graph: readonly string[]
  /** All of them. */
  readonly texts: readonly string[]
}

/** A tag with quoted attributes; the text of a CDATA section is text. Formulas stand between tags. */
export const tag = /<!--[\s\S]*?-->|<!\[CDATA\[|\]\]>|<(?:[^<>"']|"[^"]*"|'[^']*')*>/g
/** A calculation by its place: c1 is the first. */
export const place = /(?<![\w.])c([1-9][0-9]*)(?!\w)/g
const graphFormula = /cid_formula["']?\s*[=:>]\s*["']?([^"'<>,}]*)/g
const wholeNumber = /(?<![\w.])[0-9]+(?![\w.])/g

export function formulasIn(configuration: string): Formulas {
  const graph = [...configuration.matchAll(graphFormula)]
    .map(([, text = '']) => text.trim())
    .filter(text => text !== '')
  const steps = configuration.split(tag).filter(text => text.search(place) >= 0)
  return formulasOf(
    steps.map(text => text.trim()),
    graph,
  )
}

function formulasOf(steps: readonly string[], graph: readonly string[]): Formulas {
  const found = steps.flatMap(text => [...text.matchAll(place)].map(([, digits]) => Number(digits)))
  return {
    places: [...new Set(found)],
    ids: [...new Set(graph.flatMap(text => text.match(wholeNumber) ?? []))],
    steps,
    graph,
    texts: [...steps, ...graph],
  }
}

/** Those that an edit of the configuration has left as they were, in their place among the others. */
export function untouchedFormulas(before: Formulas, after: Formulas): Formulas {
  return formulasOf(kept(before.steps, after.steps), kept(before.graph, after.graph))
}

/** Of lists of one length what stands at the same place in both; else what both begin and end with. */
function kept(before: readonly string[], after: readonly string[]): readonly string[] {
  if (before.length === after.length) return after.filter((text, at) => text === before[at])
  const shorter = Math.min(before.length, after.length)
  const begin = firstDifference(shorter, at => before[at] === after[at])
  const end = firstDifference(shorter - begin, at => before.at(-1 - at) === after.at(-1 - at))
  return [...after.slice(0, begin), ...after.slice(after.length - end)]
}

function firstDifference(most: number, isSame: (at: number) => boolean): number {
  let at = 0
  while (at < most && isSame(at)) at += 1
  return at
}
