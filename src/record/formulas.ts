// Formulas of a report's configuration: calculations by place (c1 = the first) and, in a graph, by id.

/** The formulas of a configuration, an XML text; unknown parts of it are not looked at. */
export interface Formulas {
  /** The places N of every cN, each once, in the order they come. */
  readonly places: readonly number[]
  /** The calculation ids in a graph's `cid_formula`. */
  readonly ids: readonly string[]
  /** The texts they stand in: first those with places, then those of a graph. */
  readonly texts: readonly string[]
}

/** A tag with quoted attributes; the text of a CDATA section is text. Formulas stand between tags. */
export const tag = /<!--[\s\S]*?-->|<!\[CDATA\[|\]\]>|<(?:[^<>"']|"[^"]*"|'[^']*')*>/g
/** A calculation by its place: c1 is the first. */
export const place = /(?<![\w.])c([1-9][0-9]*)(?!\w)/g
const graphFormula = /cid_formula["']?\s*[=:>]\s*["']?([^"'<>,}]*)/g
const wholeNumber = /(?<![\w.])[0-9]+(?![\w.])/g

export function formulasIn(configuration: string): Formulas {
  const graph = [...configuration.matchAll(graphFormula)].map(([, text = '']) => text.trim())
  const steps = configuration
    .split(tag)
    .filter(text => text.search(place) >= 0)
    .map(text => text.trim())
  const places = steps.flatMap(text => [...text.matchAll(place)].map(([, digits]) => Number(digits)))
  return {
    places: [...new Set(places)],
    ids: [...new Set(graph.flatMap(text => text.match(wholeNumber) ?? []))],
    texts: [...steps, ...graph.filter(text => text !== '')],
  }
}
