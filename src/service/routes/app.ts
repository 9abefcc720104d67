// Fastify application: the routes under /create/rest, the token check, and the form of refusals.
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
import { authenticate } from './caller.js'
import type { Instance } from './instance.js'
import { projectRoutes } from './project-routes.js'
import { reportRoutes } from './report-routes.js'
import { loginRoute, sessionRoutes } from './session-routes.js'
import { shareRoutes } from './share-routes.js'
import { watchTraffic } from './traffic.js'

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
