// Part source: where the next bytes of a content come from: the fleet, the service for all daemons, or the service for this one.
import type {
  Body,
  ByteOffset,
  Content,
  ContentVersion,
  Instant,
  Remote,
  RequestContext,
} from '../../remote/remote.js'
import { byteOffset, instant } from '../../remote/remote.js'
import type { SealedName } from '../engine/seal.js'
import {
  askAgainMs,
  leaseMs,
  putBack,
  type SharedValuePorts,
  unlessAway,
  wrongAtMost,
} from '../shared/shared-value.js'
import { type ContentPart, isOf, partBytes, partForm, partIn, tellsVersion } from './content-part.js'
import { openPartDownload, type PartDownload } from './part-download.js'
import { openPartLeases, type PartLease } from './part-lease.js'
import { untoldBody } from './untold-body.js'

export interface WantedContent {
  readonly content: Content
  readonly start: ByteOffset
  readonly context: RequestContext
  readonly end: ByteOffset | undefined
  readonly of: ContentVersion | undefined
}

export type Stretch =
  | { readonly is: 'part'; readonly part: ContentPart }
  /** From the beginning of the part on. */
  | { readonly is: 'download'; readonly body: Body; readonly download: PartDownload }
  /** As the service answers, shared with no other daemon. */
  | { readonly is: 'body'; readonly body: Body }

export interface PartSource {
  from(position: ByteOffset, wanted: WantedContent): Promise<Stretch>
}

export interface PartSourceKnowledge {
  readonly nameOf: (content: Content) => string
  /** The service was found to hold another version since then. */
  readonly isOutdated: (name: string, since: Instant) => boolean
}

/** Milliseconds after which parts are asked for again: a daemon that begins must not be told for ever what was once. */
const livesMs = 3_600_000
/** Milliseconds for which another daemon's download of one part is waited for. */
const patienceMs = 5_000

export function openPartSource(
  ports: SharedValuePorts,
  remote: Pick<Remote, 'content'>,
  { nameOf, isOutdated }: PartSourceKnowledge,
): PartSource {
  const { store, seal, clock, counts, log } = ports
  const lane = store.contents
  const leaseOf = openPartLeases({ lane, clock, counts, livesMs })
  let asked = 0

  const partName = (whole: string, base: number): SealedName =>
    seal.nameOf('content', `${whole} ${base / partBytes}`)
  const nextOwner = (): string => `${ports.node}:c${++asked}`

  async function from(position: ByteOffset, wanted: WantedContent): Promise<Stretch> {
    const base = position - (position % partBytes)
    const alone = async (): Promise<Stretch> => {
      const { content, context, end, of } = wanted
      return { is: 'body', body: await remote.content(content, position, context, end, of) }
    }
    if (store.breaker.isOpen) return alone()
    const name = partName(nameOf(wanted.content), base)
    const owner = nextOwner()
    const { answerBy, deadline } = wanted.context
    const until = Math.min(answerBy ?? deadline, clock.now() + patienceMs)
    let watch: Awaited<ReturnType<typeof store.watch>> | undefined
    let wrong = 0
    try {
      for (;;) {
        const taken = await unlessAway(lane.take(name, owner, leaseMs))
        if (taken === undefined || taken.is === 'full') return await alone()
        if (taken.is === 'leased') return await downloaded(position, wanted, leaseOf(name, owner))
        if (taken.is === 'there') {
          const part = opened(nameOf(wanted.content), base, taken.value)
          if (part !== undefined && position <= part.length && isOf(part.version, wanted.of)) {
            counts.received += taken.value.length
            counts.hits += 1
            return { is: 'part', part }
          }
          wrong += 1
          if (wrong > wrongAtMost) return await alone()
          await unlessAway(lane.change(name, undefined, 0))
          continue
        }
        const left = until - clock.now()
        if (left <= 0) return await alone()
        if (watch === undefined) {
          watch = await unlessAway(store.watch(name))
          if (watch === undefined) return await alone()
          continue
        }
        await watch.next(Math.min(left, askAgainMs))
      }
    } finally {
      watch?.end()
    }
  }

  function opened(whole: string, base: number, value: Buffer): ContentPart | undefined {
    const name = partName(whole, base)
    const opening = seal.open(name, value)
    const part = opening && partIn(opening.plain, base)
    if (opening === undefined || part === undefined) {
      counts.wrong += 1
      log('a value in the fleet was not sealed with its key, and is not used', { name })
      return undefined
    }
    const { ageMs } = opening
    if (ageMs < livesMs && !isOutdated(whole, instant(Math.floor(clock.now() - ageMs)))) return part
    counts.wrong += 1
    log(putBack, { name, ageMs })
    return undefined
  }

  /** Whole parts are asked for, so that each that is asked for can be shared. */
  async function downloaded(position: ByteOffset, wanted: WantedContent, lease: PartLease): Promise<Stretch> {
    const { content, context, end, of } = wanted
    const whole = nameOf(content)
    const began = clock.now()
    const base = byteOffset(position - (position % partBytes))
    const upTo = end === undefined ? undefined : byteOffset(Math.ceil(end / partBytes) * partBytes)
    let body: Body
    try {
      counts.asked += 1
      body = await remote.content(content, base, context, upTo, of)
    } catch (thrown) {
      lease.release()
      throw thrown
    }
    const { length, version } = body
    const isClear = body.ends === 'proven' && body.wasPacked !== true
    const sealed = (at: number, bytes: Buffer, total: number): Buffer => {
      const name = partName(whole, at)
      return seal.close(name, ...partForm({ length: total, version, bytes }))
    }
    // A generated file is sent without its length: it is known at the end.
    if (isClear && length === undefined && position === 0 && body.start === 0)
      return { is: 'body', body: untoldBody(body, lease, bytes => sealed(0, bytes, bytes.length)) }
    if (body.start !== base || length === undefined) {
      lease.release()
      if (body.start === position || body.start !== base) return { is: 'body', body }
      body.cancel()
      return { is: 'body', body: await remote.content(content, position, context, end, of) }
    }
    const mayShare = isClear && (length <= partBytes || tellsVersion(version))
    if (!mayShare) lease.release()
    const download = openPartDownload({
      body,
      clock,
      lease: mayShare ? lease : undefined,
      seal: (at, bytes) => sealed(at, bytes, length),
      async follow(at) {
        if (isOutdated(whole, began)) return undefined
        const name = partName(whole, at)
        const owner = nextOwner()
        const taken = await unlessAway(lane.take(name, owner, leaseMs))
        if (taken?.is === 'leased') return leaseOf(name, owner)
        return taken === undefined || taken.is === 'full' ? undefined : 'elsewhere'
      },
    })
    return { is: 'download', body, download }
  }

  return { from }
}
