// The parameters of a query, each read by the rule the API document gives for it.
import { deepest } from '../records/descendants.js'
import { validId } from '../records/record.js'
import { invalid } from '../store/refusal.js'

/** A query as received: a parameter that stands twice is a list. */
export type Query = Readonly<Record<string, string | string[] | undefined>>

/** @throws Refusal 400 if the parameter stands twice */
export function optional(query: Query, name: string): string | undefined {
  const value = query[name]
  if (Array.isArray(value)) throw invalid(`${name} is given twice`)
  return value
}

/** @throws Refusal 400 if the parameter is missing */
export function required(query: Query, name: string): string {
  const value = optional(query, name)
  if (value === undefined) throw invalid(`${name} is missing`)
  return value
}

/** An id as decimal digits. */
export function idParameter(query: Query, name = 'id'): string {
  return validId(required(query, name), name)
}

/** One of the words allowed; undefined if the parameter is missing. */
export function wordParameter<Word extends string>(
  query: Query,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = optional(query, name)
  if (value === undefined) return undefined
  const word = words.find(allowed => allowed === value)
  if (word === undefined) throw invalid(`${name} is none of ${words.join(', ')}`)
  return word
}

/** How many levels down: a positive integer or the word `all`; one level if it is not given. */
export function depthParameter(query: Query): number {
  const depth = optional(query, 'depth')
  if (depth === undefined) return 1
  if (depth === 'all') return deepest
  if (!/^[1-9][0-9]*$/.test(depth)) throw invalid('depth is neither a positive whole number nor "all"')
  return Math.min(Number(depth), deepest)
}
