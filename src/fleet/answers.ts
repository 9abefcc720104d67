// Shared answers: a listing or record that one daemon of a fleet asked for is every daemon's, for as long as it lives.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { AnswerSource, DatedAnswer, Query } from '../cache/metadata/query.js'
import { type Instant, instant, type RequestContext } from '../remote/remote.js'
import type { Opened, SealedName } from './seal.js'
import { type ChangeElsewhere, type SharingPorts, sharedValue } from './shared-value.js'

/** The first byte of a value: the form of the answer, which is packed. */
const forms = { text: 1, bytes: 2 } as const
/** Longer ones are each daemon's own. */
const longest = 16 << 20
const changesRemembered = 65_536
/** Milliseconds in which two daemons change one thing at the same time: longer than a save takes. */
const crossingMs = 60_000

export class SharedAnswers implements AnswerSource {
  /** An answer that was asked for before does not count: of a question, and of all. */
  private readonly floors = new LRUCache<string, Instant>({ max: changesRemembered })
  private floor = instant(0)
  /** When another daemon last changed what a question is about. */
  private readonly changedElsewhere = new LRUCache<string, Instant>({ max: changesRemembered })

  constructor(
    private readonly ports: SharingPorts,
    /** Told of an answer that may be old here. */
    private readonly outdated: (change: ChangeElsewhere) => void,
  ) {}

  ask<Answer>(query: Query<Answer>, context: RequestContext, leftMs: number): Promise<DatedAnswer<Answer>> {
    const { clock } = this.ports
    const name = this.nameOf(query)
    return sharedValue<DatedAnswer<Answer>>(this.ports, {
      name,
      length: 'short',
      context,
      leftMs,
      ask: async () => ({ answer: await query.fetch(context), made: undefined }),
      pack: ({ answer }) => packed(query, answer),
      unpack: opened => {
        const { made } = opened
        if (clock.now() - made + leftMs >= query.lifetime) return undefined
        if (made < this.floor || made < (this.floors.get(name) ?? 0)) return undefined
        return unpacked(query, opened)
      },
    })
  }

  changed<Answer>(query: Query<Answer>): void {
    const { clock, change } = this.ports
    const { namespace, key, lifetime } = query
    const name = this.nameOf(query)
    this.floors.set(name, clock.now())
    const news = { is: 'answer', namespace, key, lifetime } as const
    void change([name], news).then(() => {
      const elsewhere = this.changedElsewhere.get(name)
      // The service alone knows which of the two changes it holds.
      if (elsewhere !== undefined && clock.now() - elsewhere < crossingMs) this.outdated(news)
    })
  }

  /** Answers asked for until now do not count. */
  missed(): void {
    this.floor = this.ports.clock.now()
  }

  /** Another daemon has changed it. The answer was dropped in the fleet before that was said. */
  heard(question: { readonly namespace: string; readonly key: string }): void {
    this.changedElsewhere.set(this.nameOf(question), this.ports.clock.now())
  }

  private nameOf({ namespace, key }: { readonly namespace: string; readonly key: string }): SealedName {
    return this.ports.seal.nameOf('answer', `${namespace}\0${key}`)
  }
}

function packed<Answer>(
  query: Query<Answer>,
  answer: Answer,
): { readonly plain: Buffer; readonly livesMs: number } | undefined {
  const form = query.encode(answer)
  const isText = typeof form === 'string'
  const bytes = isText ? Buffer.from(form, 'utf8') : form
  if (bytes.length > longest) return undefined
  const head = Buffer.from([isText ? forms.text : forms.bytes])
  return { plain: Buffer.concat([head, deflateRawSync(bytes, { level: 1 })]), livesMs: query.lifetime }
}

/** @throws Error for what no calcfs of this version has packed: it was sealed with the fleet's key */
function unpacked<Answer>(query: Query<Answer>, { plain, made }: Opened): DatedAnswer<Answer> {
  const bytes = inflateRawSync(plain.subarray(1))
  return { answer: query.decode(plain[0] === forms.text ? bytes.toString('utf8') : bytes), made }
}
