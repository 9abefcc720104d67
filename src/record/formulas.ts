// Formulas of a report's configuration, calculations by place (c1 = the first) and, in a graph, by id, and their numbers in another order.

/** The formulas of a configuration, an XML text; unknown parts of it are not looked at. */
export type Formulas = ReturnType<typeof formulasIn>

/** A tag with quoted attributes; the text of a CDATA section is text. Formulas stand between tags. */
const tag = /<!--[\s\S]*?-->|<!\[CDATA\[|\]\]>|<(?:[^<>"']|"[^"]*"|'[^']*')*>/g
/** A calculation by its place: c1 is the first. */
const place = /(?<![\w.])c([1-9][0-9]*)(?!\w)/g
const graphFormula = /cid_formula["']?\s*[=:>]\s*["']?([^"'<>,}]*)/g
const wholeNumber = /(?<![\w.])[0-9]+(?![\w.])/g

export function formulasIn(configuration: string) {
  const graph = [...configuration.matchAll(graphFormula)].map(([, text = '']) => text.trim())
  const steps = configuration
    .split(tag)
    .filter(text => text.search(place) >= 0)
    .map(text => text.trim())
  const places = steps.flatMap(text => [...text.matchAll(place)].map(([, digits]) => Number(digits)))
  return {
    /** The places N of every cN, each once, in the order they come. */
    places: [...new Set(places)],
    /** The calculation ids in a graph's `cid_formula`. */
    ids: [...new Set(graph.flatMap(text => text.match(wholeNumber) ?? []))],
    /** The texts they stand in: first those with places, then those of a graph. */
    texts: [...steps, ...graph.filter(text => text !== '')],
  }
}

/**
 * `renumbered` is the configuration with new numbers, `fresh` are the places that meant nothing and would get a meaning; `lost` are
 * the formulas' calculations that the new list has not.
 */
export type Renumbering =
  | { readonly renumbered: string; readonly fresh: readonly string[] }
  | { readonly lost: readonly { readonly formula: string; readonly calculation: string }[] }

/** The calculations by place; an empty place is undefined. */
type CalculationPlaces = readonly (string | undefined)[]

/**
 * Rewrites a configuration from one order of calculation ids to another. Only numbers change: tags, blanks and what is
 * no formula stay letter for letter. A place behind the old list, or an empty one, meant nothing and stays as it is.
 */
export function renumber(
  configuration: string,
  before: CalculationPlaces,
  after: CalculationPlaces,
): Renumbering {
  const { places, ids } = formulasIn(configuration)
  const meant = places.flatMap(number => {
    const calculation = before[number - 1]
    return calculation === undefined ? [] : [{ formula: `c${number}`, calculation }]
  })
  const inGraph = ids
    .filter(id => before.includes(id))
    .map(id => ({ formula: `the graph's ${id}`, calculation: id }))
  const lost = [...meant, ...inGraph].filter(({ calculation }) => !after.includes(calculation))
  if (lost.length > 0) return { lost }
  const numbers = new Map(
    meant.map(({ formula, calculation }) => [formula, `c${after.indexOf(calculation) + 1}`]),
  )
  const isFresh = (number: number) => before[number - 1] === undefined && after[number - 1] !== undefined
  return {
    renumbered: betweenTags(configuration, text => text.replace(place, was => numbers.get(was) ?? was)),
    fresh: places.filter(isFresh).map(number => `c${number}`),
  }
}

function betweenTags(configuration: string, rewrite: (text: string) => string): string {
  let end = 0
  let rewritten = ''
  for (const { 0: found, index } of configuration.matchAll(tag)) {
    rewritten += rewrite(configuration.slice(end, index)) + found
    end = index + found.length
  }
  return rewritten + rewrite(configuration.slice(end))
}
