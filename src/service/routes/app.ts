// Fastify application: the routes under /create/rest, the token check, the latency and the log line of each answer, the form of refusals.
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { userWithPassword } from '../people/users.js'
import { calculationById } from '../records/calculations.js'
import { idAt } from '../records/projects.js'
import type { ServiceOptions } from '../store/options.js'
import { invalid, missing, Refusal } from '../store/refusal.js'
import { calculationRoutes } from './calculation-routes.js'
import { projectRoutes, shareRoutes } from './project-routes.js'
import { reportRoutes } from './report-routes.js'
import { authenticate, type Instance, routesOf } from './request.js'

export const prefix = '/create/rest'
const bodyBytes = 16 * 1024 * 1024

export function buildApp(instance: Instance, options: ServiceOptions): FastifyInstance {
  const app = fastify({
    logger: { level: 'error', stream: process.stderr },
    exposeHeadRoutes: !instance.lacks.head,
    forceCloseConnections: true,
    bodyLimit: bodyBytes,
  })
  app.decorateRequest('caller', null)
  takeBodiesAsText(app)
  watchTraffic(app, options)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((request, reply) => answerUnknown(app, request, reply))
  app.register(
    (scope, _options, done) => {
      loginRoute(scope, instance)
      scope.register(guardedRoutes(instance))
      done()
    },
    { prefix },
  )
  return app
}

const guardedRoutes =
  (instance: Instance): FastifyPluginCallback =>
  (scope, _options, done) => {
    scope.addHook('onRequest', request => authenticate(request, instance))
    projectRoutes(scope, instance)
    if (!instance.lacks.onlyNinePaths) shareRoutes(scope, instance)
    reportRoutes(scope, instance)
    calculationRoutes(scope, instance)
    if (!instance.lacks.onlyNinePaths) sessionRoutes(scope, instance)
    done()
  }

/** Fastify's own JSON parser rounds numbers; the routes take the text apart themselves. */
function takeBodiesAsText(app: FastifyInstance): void {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, utf8.decode(Buffer.from(body)))
    } catch (cause) {
      done(Object.assign(invalid('the body is not UTF-8'), { cause }), undefined)
    }
  })
}

function answerError(
  error: FastifyError | Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const status = error instanceof Refusal ? error.status : (error.statusCode ?? 500)
  if (status >= 500 && !(error instanceof Refusal)) {
    request.log.error(error)
    return reply.code(500).send({ error: 'the service failed; its log says why' })
  }
  if (status === 401)
    reply.header('www-authenticate', request.url.startsWith(`${prefix}/login`) ? 'Basic' : 'Bearer')
  return reply.code(status).send({ error: error.message })
}

/** 405 where the path is right and the method is not, else 404. */
function answerUnknown(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [url = ''] = request.url.split('?')
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].filter(method => app.hasRoute({ method, url }))
  if (methods.length === 0) return reply.code(404).send({ error: `there is no ${url} here` })
  return reply
    .code(405)
    .header('allow', methods.join(', '))
    .send({ error: `${url} does not know ${request.method}` })
}

/** Adds the hooks. They come first, so that refused requests are counted and delayed like all others. */
function watchTraffic(app: FastifyInstance, options: ServiceOptions): void {
  const { latency = 0, now = Date.now, onArrival, onAnswer } = options
  app.addHook('onRequest', async (request, reply) => {
    if (onAnswer !== undefined) noteAnswer(request, reply, { now, onAnswer })
    await onArrival?.(request.method, request.url)
    if (latency > 0) await new Promise(resolve => setTimeout(resolve, latency))
  })
}

type Watch = Required<Pick<ServiceOptions, 'now' | 'onAnswer'>>

/** `close` comes after the last byte, and also when the client went away before it. */
function noteAnswer(request: FastifyRequest, reply: FastifyReply, { now, onAnswer }: Watch): void {
  const { socket } = request.raw
  const before = socket.bytesWritten
  const started = performance.now()
  const time = new Date(now()).toISOString()
  reply.raw.once('close', () =>
    onAnswer({
      time,
      method: request.method,
      url: request.url,
      status: reply.statusCode,
      bytes: socket.bytesWritten - before,
      ms: Math.round((performance.now() - started) * 1000) / 1000,
      user: request.caller === null ? null : request.caller.name,
    }),
  )
}

function loginRoute(app: FastifyInstance, { store, tokens }: Instance): void {
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

function sessionRoutes(app: FastifyInstance, instance: Instance): void {
  const { store, rights } = instance
  const on = routesOf(app, instance)

  on('GET', '/user/info', ({ caller: { id, name, email } }) => {
    return `{"id":${id},"username":${JSON.stringify(name)},"email":${JSON.stringify(email)}}`
  })

  on('GET', '/navigation/path/resolve', asked => {
    const path = asked.required('path')
    const type = asked.word('type', ['project', 'calculation', 'report'])
    if (type === undefined) throw invalid('type is missing')
    if (type === 'report') throw new Refusal(501, 'the id of a report cannot be resolved: not implemented')
    const found = idAt(store, { path, type })
    if (found === undefined) throw missing(`there is no ${type} at this path`)
    rights.need(asked.caller, 'READ', type === 'project' ? found : calculationById(store, found).project)
    return found
  })
}
