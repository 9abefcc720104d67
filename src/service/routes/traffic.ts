// Traffic of the service: the latency before each request, and the log line of each answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceOptions } from '../store/options.js'

/** Adds the hooks. They come first, so that refused requests are counted and delayed like all others. */
export function watchTraffic(app: FastifyInstance, options: ServiceOptions): void {
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
