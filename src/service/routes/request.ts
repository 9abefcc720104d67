// Requests as the routes take them: who asks, with which parameters and body, of which instance; and an answer of JSON.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Contents } from '../content/contents.js'
import type { Rights } from '../people/rights.js'
import { type Tokens, type User, userById } from '../people/users.js'
import { deepest } from '../records/projects.js'
import { idIn, type JsonRecord, parseRecord, validId } from '../records/record.js'
import type { Shortcomings } from '../store/options.js'
import { invalid, Refusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'

/** State that the routes of one running service share. */
export interface Instance {
  readonly store: Store
  readonly contents: Contents
  readonly tokens: Tokens
  readonly rights: Rights
  readonly lacks: Shortcomings
  readonly now: () => number
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: User | null
  }
}

/** Finds the user. @throws Refusal 401 for a missing, forged or expired token, or one of a deleted user */
export async function authenticate(request: FastifyRequest, { store, tokens }: Instance): Promise<void> {
  const [, token] = /^Bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? '') ?? []
  if (token === undefined) throw new Refusal(401, 'a bearer token is needed: log in first')
  const id = await tokens.holder(token)
  const user = id === undefined ? undefined : userById(store, id)
  if (user === undefined) throw new Refusal(401, 'the token is invalid or has expired: log in again')
  request.caller = user
}

export function callerOf(request: FastifyRequest): User {
  if (request.caller === null) throw new Refusal(401, 'a bearer token is needed: log in first')
  return request.caller
}

export function bodyOf(request: FastifyRequest): JsonRecord {
  return parseRecord(typeof request.body === 'string' ? request.body : '')
}

const names = ['name', 'title']

/** The same with its names as this instance spells them. */
export function namedBodyOf(request: FastifyRequest, { lacks }: Instance): JsonRecord {
  const body = bodyOf(request)
  if (!lacks.ownSpelling) return body
  const spelled = ([field, raw]: [string, string]): [string, string] =>
    names.includes(field) ? [field, raw.replaceAll(' ', '_')] : [field, raw]
  return new Map([...body].map(spelled))
}

export function bodyId(body: JsonRecord, name = 'id'): string {
  const id = idIn(body, name)
  if (id === undefined) throw invalid(`${name} is missing`)
  return id
}

/** A query as received: a parameter that stands twice is a list. */
export type Query = Readonly<Record<string, string | string[] | undefined>>

export function optional(query: Query, name: string): string | undefined {
  const value = query[name]
  if (Array.isArray(value)) throw invalid(`${name} is given twice`)
  return value
}

export function required(query: Query, name: string): string {
  const value = optional(query, name)
  if (value === undefined) throw invalid(`${name} is missing`)
  return value
}

export function idParameter(query: Query, name = 'id'): string {
  return validId(required(query, name), name)
}

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

/** Answers 200 with a JSON text as it is: Fastify's own serializer would round numbers. */
export const json = (reply: FastifyReply, text: string): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(text)
