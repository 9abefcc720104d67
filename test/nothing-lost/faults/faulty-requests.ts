// What may go wrong with a request on its way: before the service has it, after it was carried out, or with its answer alone.
import type { ServerResponse } from 'node:http'
import type { InterceptedRequest, Interceptor } from '../../testbed/proxy.js'

const answered = (status: number, said = '{"error":"no"}', type = 'application/json') => ({
  status,
  said,
  type,
})
type Answer = ReturnType<typeof answered> | 'reset' | 'silence' | 'half'

/** @param when whether the service carries the request out all the same */
const fault =
  (answer: Answer, when: 'before' | 'after'): Interceptor =>
  async (response: ServerResponse, { carryOut }: InterceptedRequest) => {
    if (when === 'after') await carryOut()
    if (answer === 'silence') return
    if (answer === 'reset') return void response.destroy()
    if (answer === 'half') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 })
      response.write('{"id":')
      return void setTimeout(() => response.destroy(), 5)
    }
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.said)
  }

const page = answered(200, '<html><title>Please sign in</title></html>', 'text/html')

/** Each by a name that a failing case prints. A 4xx, a 429 and a 503 say that nothing was carried out, so none comes after. */
export const faults: Readonly<Record<string, Interceptor>> = {
  'reset before': fault('reset', 'before'),
  'reset after': fault('reset', 'after'),
  'silence before': fault('silence', 'before'),
  'silence after': fault('silence', 'after'),
  'half an answer before': fault('half', 'before'),
  'half an answer after': fault('half', 'after'),
  '500 before': fault(answered(500), 'before'),
  '500 after': fault(answered(500), 'after'),
  '502 before': fault(answered(502, '<html>Bad gateway</html>', 'text/html'), 'before'),
  '502 after': fault(answered(502, '<html>Bad gateway</html>', 'text/html'), 'after'),
  '504 before': fault(answered(504), 'before'),
  '504 after': fault(answered(504), 'after'),
  'a page before': fault(page, 'before'),
  'a page after': fault(page, 'after'),
  'an empty record before': fault(answered(200, '{}'), 'before'),
  'no JSON after': fault(answered(200, '{"id":1,'), 'after'),
  '401': fault(answered(401), 'before'),
  '409': fault(answered(409), 'before'),
  '429': fault(answered(429), 'before'),
  '503': fault(answered(503), 'before'),
}

export const faultNames: readonly string[] = Object.keys(faults)
