// Caller of a request: its bearer token becomes a user, and its body a record.
import type { FastifyRequest } from 'fastify'
import { type User, userById } from '../people/users.js'
import { idIn, type JsonRecord, parseRecord } from '../records/record.js'
import { invalid, Refusal } from '../store/refusal.js'
import type { Instance } from './instance.js'

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

/** The user of a request that passed the token check. */
export function callerOf(request: FastifyRequest): User {
  if (request.caller === null) throw new Refusal(401, 'a bearer token is needed: log in first')
  return request.caller
}

/** The record in a body. @throws Refusal 400 */
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

/** The id that a body must state. @throws Refusal 400 */
export function bodyId(body: JsonRecord, name = 'id'): string {
  const id = idIn(body, name)
  if (id === undefined) throw invalid(`${name} is missing`)
  return id
}
