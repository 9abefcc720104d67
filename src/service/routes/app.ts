// Fastify application: the routes under /create/rest, the token check, the latency and the log line of each answer, the form of refusals.
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { ServiceOptions } from '../store/options.js'
import { invalid, Refusal } from '../store/refusal.js'
import { calculationRoutes } from './calculation-routes.js'
import { projectRoutes, shareRoutes } from './project-routes.js'
import { reportRoutes } from './report-routes.js'
import { authenticate, type Instance } from './request.js'
import { loginRoute, sessionRoutes } from './session-routes.js'

export const prefix = '/create/rest'
const bodyBytes = 16 * 1024 * 1024

/** The service as a Fastify application that is not listening yet. */
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

/** Every route but the log-in: none of them is reached without a token. */
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
