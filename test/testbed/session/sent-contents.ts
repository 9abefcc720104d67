// What the service sends of each file of one folder: bytes and requests by the file's name.
import type { TestService } from '../service.js'

export interface SentContent {
  /** On the connection: the headers of the answers, too. */
  readonly bytes: number
  readonly requests: number
}

/** More than the headers of one answer. */
export const headersBytes = 2048
/** What is fetched for a look at the beginning of a file over a MiB (READ-20). */
export const headBytes = 256 << 10

/** Counts from now on; the answer is what was sent of a file. */
export function countSent(service: Pick<TestService, 'intercept'>): (name: string) => SentContent {
  const sent = new Map<string, SentContent>()
  const of = (name: string): SentContent => sent.get(name) ?? { bytes: 0, requests: 0 }
  service.intercept(/^GET .*fileId=/, async (response, { carryOut }) => {
    const name = new URL(response.req.url ?? '', 'http://localhost').searchParams.get('fileId') ?? ''
    const { socket } = response
    const before = socket?.bytesWritten ?? 0
    sent.set(name, { ...of(name), requests: of(name).requests + 1 })
    response.once('close', () => {
      const bytes = (socket?.bytesWritten ?? Number.NaN) - before
      sent.set(name, { ...of(name), bytes: of(name).bytes + bytes })
    })
    ;(await carryOut())()
  })
  return of
}
