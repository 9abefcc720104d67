// Requests as the routes take them: who asks, with which parameters and body, of which instance; and an answer of JSON.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Contents } from '../content/contents.js'
import type { Rights } from '../people/rights.js'
import { type Tokens, type User, userById } from '../people/users.js'
import { deepest } from '../records/projects.js'
import { idIn, type JsonRecord, parseRecord, validId } from '../records/record.js'
import type { Shortcomings } from '../store/options.js'
import { invalid, Refusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'

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

const names = ['name', 'title']

/** One request behind the token check. */
export class Asked {
  constructor(
    readonly request: FastifyRequest,
    readonly instance: Instance,
  ) {}

  get caller(): User {
    if (this.request.caller === null) throw new Error('no route is reached without a token')
    return this.request.caller
  }

  /** Its names are as this instance spells them. @throws Refusal 400 */
  body(): JsonRecord {
    const body = parseRecord(typeof this.request.body === 'string' ? this.request.body : '')
    if (!this.instance.lacks.ownSpelling) return body
    const spelled = ([field, raw]: [string, string]): [string, string] =>
      names.includes(field) ? [field, raw.replaceAll(' ', '_')] : [field, raw]
    return new Map([...body].map(spelled))
  }

  optional(name: string): string | undefined {
    // A parameter that stands twice is a list.
    const value = (this.request.query as Readonly<Record<string, string | string[]>>)[name]
    if (Array.isArray(value)) throw invalid(`${name} is given twice`)
    return value
  }

  required(name: string): string {
    const value = this.optional(name)
    if (value === undefined) throw invalid(`${name} is missing`)
    return value
  }

  id(name = 'id'): string {
    return validId(this.required(name), name)
  }

  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.optional(name)
    const word = words.find(allowed => allowed === value)
    if (value !== undefined && word === undefined) throw invalid(`${name} is none of ${words.join(', ')}`)
    return word
  }

  /** How many levels down: a positive integer or the word `all`; one level if it is not given. */
  depth(): number {
    const depth = this.optional('depth') ?? '1'
    if (depth === 'all') return deepest
    if (!/^[1-9][0-9]*$/.test(depth)) throw invalid('depth is neither a positive whole number nor "all"')
    return Math.min(Number(depth), deepest)
  }
}

export function bodyId(body: JsonRecord, name = 'id'): string {
  const id = idIn(body, name)
  if (id === undefined) throw invalid(`${name} is missing`)
  return id
}

/** Adds a route that answers a JSON text as it is, since Fastify's own serializer would round numbers; or nothing. */
export const routesOf =
  (app: FastifyInstance, instance: Instance) =>
  (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    answer: (asked: Asked) => string | undefined,
  ): void => {
    app.route({
      method,
      url,
      handler(request, reply): FastifyReply {
        const text = answer(new Asked(request, instance))
        return text === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(text)
      },
    })
  }
