// Shared answers: a listing or record that one daemon of a fleet asked for is every daemon's, for as long as it lives.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { AnswerSource, DatedAnswer, Query } from '../../cache/metadata/query.js'
import { openRecentMap } from '../../recent-map.js'
import { type Instant, instant, type RequestContext } from '../../remote/remote.js'
import type { SealedName } from '../engine/seal.js'
import type { FleetNews } from './fleet-news.js'
import type { LateChanges } from './late-changes.js'
import { putBack, type SharedValuePorts, sharedValue } from './shared-value.js'

/** How an answer is told apart in its value: the first byte. */
const forms = { text: 1, bytes: 2, packedText: 3, packedBytes: 4 } as const
/** Then, in four bytes each, the milliseconds that it lives from its question on, and that the question took. */
const headBytes = 9
/** Shorter answers hardly get shorter. */
const packedFrom = 256
/** Longer ones are each daemon's own. */
const longest = 16 << 20
const floorsAtMost = 65_536
/** Milliseconds by which a value may be too young, for its lifetime is rounded. */
const clockMs = 1_000
/** Milliseconds by which the clocks of two machines may differ without a word in the log. */
const clocksDifferMs = 5_000

export interface SharedAnswers extends AnswerSource {
  /** Another daemon was told to ask for everything again: what was asked before does not count. */
  outdated(): void
}

export function openSharedAnswers(
  ports: SharedValuePorts,
  news: FleetNews,
  changes: LateChanges,
): SharedAnswers {
  const { seal, clock } = ports
  /** What was asked for before does not count: of a question, and of all. */
  const floors = openRecentMap<Instant>(floorsAtMost)
  let floor = instant(0)

  const nameOf = (namespace: string, key: string): SealedName => seal.nameOf('answer', `${namespace}\0${key}`)

  const counts = (name: SealedName, made: Instant): boolean =>
    made >= floor && made >= (floors.get(name) ?? floor)

  function ask<Answer>(
    query: Query<Answer>,
    context: RequestContext,
    leftMs: number,
  ): Promise<DatedAnswer<Answer>> {
    const name = nameOf(query.namespace, query.key)
    return sharedValue<DatedAnswer<Answer>>(ports, {
      name,
      deadline: context.answerBy ?? context.deadline,
      leftMs,
      ask: async () => ({ answer: await query.fetch(context), made: undefined }),
      pack({ answer }, tookMs) {
        const plain = packed(query.encode(answer), query.lifetime, tookMs)
        return plain.length > longest ? undefined : { plain, livesMs: query.lifetime - tookMs }
      },
      unpack(plain, left, sealedAge) {
        const byServer = plain.readUInt32LE(1) - left
        const byItself = sealedAge + plain.readUInt32LE(5)
        if (byItself - byServer > clocksDifferMs) {
          ports.counts.wrong += 1
          ports.log(putBack, { name, ageMs: byItself })
        }
        const age = Math.max(byServer, byItself)
        // Of a mount with another lifetime; younger than it can be where the server's clock was set back.
        if (byServer < -clockMs || age + leftMs >= query.lifetime) return undefined
        const made = instant(Math.floor(clock.now() - age))
        if (!counts(name, made)) return undefined
        const form = unpacked(plain)
        return { answer: query.decode(form), made }
      },
    })
  }

  return {
    ask,
    changed(query, answer) {
      const name = nameOf(query.namespace, query.key)
      floors.set(name, clock.now())
      const plain = answer === undefined ? undefined : packed(query.encode(answer.now), query.lifetime, 0)
      const value = plain === undefined || plain.length > longest ? undefined : seal.close(name, plain)
      const { namespace, key, lifetime } = query
      changes.make({ name, value, livesMs: lifetime, news: { is: 'answer', namespace, key, lifetime } })
    },
    allChanged() {
      floor = clock.now()
      news.tell({ is: 'all' })
    },
    outdated() {
      floor = clock.now()
    },
  }
}

function packed(form: string | Uint8Array, lifetime: number, tookMs: number): Buffer {
  const isText = typeof form === 'string'
  const bytes = isText ? Buffer.from(form, 'utf8') : form
  const isPacked = bytes.length >= packedFrom
  const head = Buffer.alloc(headBytes)
  head[0] = isText ? (isPacked ? forms.packedText : forms.text) : isPacked ? forms.packedBytes : forms.bytes
  head.writeUInt32LE(Math.min(lifetime, 0xffffffff), 1)
  head.writeUInt32LE(Math.min(Math.max(0, Math.floor(tookMs)), 0xffffffff), 5)
  return Buffer.concat([head, isPacked ? deflateRawSync(bytes, { level: 1 }) : bytes])
}

/** @throws for what is none */
function unpacked(plain: Buffer): string | Buffer {
  const bytes = plain.subarray(headBytes)
  switch (plain[0]) {
    case forms.text:
      return bytes.toString('utf8')
    case forms.bytes:
      return bytes
    case forms.packedText:
      return inflateRawSync(bytes).toString('utf8')
    case forms.packedBytes:
      return inflateRawSync(bytes)
    default:
      throw new Error('an answer of another form')
  }
}
