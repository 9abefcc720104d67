// Sends a text that is JSON already: Fastify's own serializer would round numbers.
import type { FastifyReply } from 'fastify'

/** Answers 200 with a JSON text as it is. */
export const json = (reply: FastifyReply, text: string): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(text)
