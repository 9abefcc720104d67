// /login, /user/info and /navigation/path/resolve.
import type { FastifyInstance } from 'fastify'
import { userWithPassword } from '../people/users.js'
import { calculationById } from '../records/calculations.js'
import { idAt } from '../records/paths.js'
import { invalid, missing, Refusal } from '../store/refusal.js'
import { callerOf, type Instance, json, type Query, required, wordParameter } from './request.js'

/** The one route that needs no token. */
export function loginRoute(app: FastifyInstance, { store, tokens }: Instance): void {
  app.post('/login', async (request, reply) => {
    const [name, password] = basicCredentials(request.headers.authorization)
    const user = await userWithPassword(store, name, password)
    if (user === undefined) throw new Refusal(401, 'invalid user name or password')
    return reply.type('text/plain; charset=utf-8').send(await tokens.issue(user.id))
  })
}

/** Name and password of an HTTP Basic header (RFC 7617, in UTF-8). @throws Refusal 401 */
function basicCredentials(header: string | undefined): readonly [string, string] {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header ?? '') ?? []
  const decoded = Buffer.from(encoded, 'base64').toString()
  const colon = decoded.indexOf(':')
  if (colon < 0) throw new Refusal(401, 'user name and password are needed in an HTTP Basic header')
  return [decoded.slice(0, colon), decoded.slice(colon + 1)]
}

export function sessionRoutes(app: FastifyInstance, { store, rights }: Instance): void {
  app.get('/user/info', (request, reply) => {
    const { id, name, email } = callerOf(request)
    return json(reply, `{"id":${id},"username":${JSON.stringify(name)},"email":${JSON.stringify(email)}}`)
  })

  app.get<{ Querystring: Query }>('/navigation/path/resolve', (request, reply) => {
    const path = required(request.query, 'path')
    const type = wordParameter(request.query, 'type', ['project', 'calculation', 'report'])
    if (type === undefined) throw invalid('type is missing')
    if (type === 'report') throw new Refusal(501, 'the id of a report cannot be resolved: not implemented')
    const found = idAt(store, { path, type })
    if (found === undefined) throw missing(`there is no ${type} at this path`)
    rights.need(callerOf(request), 'READ', type === 'project' ? found : calculationById(store, found).project)
    return json(reply, found)
  })
}
