// Shared absence: that the service has no such thing, or does not show it, is told to the other mounts for a moment.
import { Failure } from '../../failure.js'
import type { PackedAnswer } from './shared-value.js'

/** The first byte of such a value. */
export const absenceForm = 9

/** Others are told of nothing that may be an accident of one request. */
const told = ['absent', 'forbidden'] as const

export function packedAbsence({ kind, message, said }: Failure, livesMs: number): PackedAnswer | undefined {
  if (!told.some(one => one === kind)) return undefined
  const text = Buffer.from(JSON.stringify({ kind, message, said }))
  return { plain: Buffer.concat([Buffer.of(absenceForm), text]), livesMs }
}

/** @throws Error for what is none */
export function unpackedAbsence(plain: Buffer): Failure {
  const found = JSON.parse(plain.subarray(1).toString('utf8')) as Record<string, unknown>
  const kind = told.find(one => one === found['kind'])
  if (kind === undefined) throw new Error('an absence of another form')
  const said = typeof found['said'] === 'string' ? found['said'] : undefined
  return new Failure(kind, String(found['message']), { said })
}
