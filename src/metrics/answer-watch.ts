// HTTP answers of a drive to those who watch it: GET /metrics for Prometheus, GET /healthz for a supervisor.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Control } from '../drive/interface/control.js'
import { asFailure } from '../failure.js'

export type WatchedDrive = Pick<Control, 'metrics' | 'health'>

/** The text form that Prometheus reads. */
const textForm = 'text/plain; version=0.0.4; charset=utf-8'
const plain = 'text/plain; charset=utf-8'

/** Answers the question; any other path is not found. */
export async function answerWatch(
  question: Pick<IncomingMessage, 'method' | 'url'>,
  reply: ServerResponse,
  drive: WatchedDrive,
): Promise<void> {
  const { status, form, text } = await answerTo(question, drive).catch((thrown: unknown) => ({
    status: 'failed' as const,
    form: plain,
    text: `${asFailure(thrown).message}\n`,
  }))
  if (reply.destroyed) return
  reply.writeHead(statuses[status], { 'content-type': form, 'cache-control': 'no-store' })
  reply.end(question.method === 'HEAD' ? '' : text)
}

/** RFC 9110: what a supervisor takes for "in order" and for "not now". */
const statuses = { fine: 200, unknown: 404, wrong: 405, failed: 500, ill: 503 } as const

interface WatchAnswer {
  readonly status: keyof typeof statuses
  readonly form: string
  readonly text: string
}

async function answerTo(
  { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  drive: WatchedDrive,
): Promise<WatchAnswer> {
  if (method !== 'GET' && method !== 'HEAD')
    return { status: 'wrong', form: plain, text: 'only GET is answered here\n' }
  switch (url.replace(/\?.*/s, '')) {
    case '/metrics':
      return { status: 'fine', form: textForm, text: (await drive.metrics({})).text }
    case '/healthz': {
      const { isHealthy, why } = await drive.health({})
      return { status: isHealthy ? 'fine' : 'ill', form: plain, text: `${why}\n` }
    }
    default:
      return { status: 'unknown', form: plain, text: 'there are /metrics and /healthz\n' }
  }
}
