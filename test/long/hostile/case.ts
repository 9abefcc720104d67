// One odd answer at one door: which requests it spoils, what it has claimed, and how it is written down for a replay.
import type { Chance } from '../chance.js'
import type { Wire } from './answer.js'
import { type Kind, spoiledBy } from './kind.js'
import type { Asked, Spoil } from './origin.js'
import type { Size, Way } from './world.js'

/** What a save makes of odd answers is the figure of faults. */
export const doors = ['listing', 'record', 'size', 'content', 'xyz', 'login'] as const
export type Door = (typeof doors)[number]
export const isBody = (door: Door): boolean => door === 'size' || door === 'content' || door === 'xyz'

export interface Plan {
  readonly way: Way
  readonly door: Door
  readonly kinds: readonly Kind[]
  readonly size: Size
  /** Only the first so many answers are odd. */
  readonly times: number
  /** HEAD is odd in the same way, where the door is a body. */
  readonly headToo: boolean
  readonly recordOf: 'project' | 'calculation' | 'report'
}

/** What answers about one content have said of its length. */
export interface Claims {
  /** Length → the ways of asking that were answered so: HEAD, a part, the whole. */
  readonly lengths: ReadonlyMap<number, ReadonlySet<string>>
  /** Whether no second way of asking contradicts this length, or two agree on it. */
  fits(length: number): boolean
}

export interface Case {
  readonly plan: Plan
  readonly id: string
  readonly claims: Claims
  /** What was asked about its bytes first and how it was answered, in order. */
  readonly asked: readonly string[]
  /** The change of an answer to this request; undefined where it is answered properly. */
  intercept(asked: Asked): Spoil | undefined
  /** From now on everything is answered properly. */
  end(): void
}

/** How a case is written; `CALCFS_LONG_CASE` takes it again. */
export const written = ({ way, door, kinds, size, times, headToo, recordOf }: Plan): string =>
  [
    way,
    door,
    kinds.map(({ name }) => name).join(' + '),
    size,
    `times ${times}`,
    headToo ? 'HEAD too' : 'HEAD well',
    recordOf,
  ].join('; ')

/** Questions that are written down. */
const askedAtMost = 20

export function openCase(plan: Plan, id: string, making: { pick: Chance; elsewhere: string }): Case {
  const { door, kinds, times, headToo, recordOf } = plan
  const lengths = new Map<number, Set<string>>()
  /** Ways of asking that were answered with a length or a body. */
  const spoke = new Set<string>()
  /** A body came packed, or without saying its length. */
  let cameLoose = false
  const asked: string[] = []
  const body = door === 'xyz' ? '/calculation/xyz' : '/calculation/files/bitstream'
  const change = spoiledBy(kinds, making)
  let answered = 0
  let ended = false

  /** Everything in the answer to a Range is the whole, and no second source for it. */
  function note(wire: Wire, { method, headers }: Asked, isOdd: boolean): void {
    const status = statusOf(wire)
    const total = totalIn(wire, status)
    const way = method === 'HEAD' ? method : status === '206' ? 'a part' : 'the whole'
    const hasBody = way === 'the whole' && status === '200'
    if (total !== undefined || hasBody) spoke.add(way)
    cameLoose ||= total === undefined && hasBody
    if (total !== undefined) lengths.set(total, (lengths.get(total) ?? new Set()).add(way))
    const question = [method, headers.get('range')].filter(word => word !== undefined).join(' ')
    if (asked.length < askedAtMost) asked.push(`${question}: ${isOdd ? 'odd, ' : ''}${status} ${total ?? ''}`)
  }

  const isOurs = ({ path, query }: Asked): boolean =>
    door === 'login' ? path === '/login' : query.get('id') === id

  /** Which requests come to the door, as method and path. */
  const comes: Readonly<Record<Door, RegExp>> = {
    listing: /^\w+ \/project\/descendant$/,
    record: new RegExp(`^GET /${recordOf}$`),
    size: /^\w+ \/calculation\/files\/bitstream$/,
    content: /^\w+ \/calculation\/files\/bitstream$/,
    xyz: /^\w+ \/calculation\/xyz$/,
    login: /^\w+ \/login$/,
  }
  function isAtDoor({ method, path, headers }: Asked): boolean {
    const isProbe = method === 'HEAD' || headers.get('range') === 'bytes=0-0'
    const isMeant = door === 'size' ? isProbe : headToo || !isProbe || !isBody(door)
    return comes[door].test(`${method} ${path}`) && isMeant
  }

  return {
    plan,
    id,
    asked,
    claims: {
      lengths,
      fits: length =>
        (lengths.get(length)?.size ?? 0) > 1 ||
        (lengths.has(length) ? lengths.size === 1 || spoke.size < 2 : spoke.size < 2 && cameLoose),
    },
    end() {
      ended = true
    },
    intercept(question) {
      if (!isOurs(question)) return undefined
      const isOdd = !ended && isAtDoor(question) && answered < times
      if (isOdd) answered += 1
      return (proper, answer, request) => {
        const wire = isOdd ? change(proper, answer, request) : proper
        if (request.path === body) note(wire, request, isOdd)
        return wire
      }
    },
  }
}

const statusOf = ({ head }: Wire): string | undefined => /^\S+ (\d{3})/.exec(head.toString('latin1'))?.[1]

/** Its lengths are those of the packed bytes. */
const isPacked = /^content-encoding: *(?!identity)\w/im

/** What an answer says of the length of the whole thing. */
function totalIn(wire: Wire, status: string | undefined): number | undefined {
  const head = wire.head.toString('latin1')
  if (isPacked.test(head)) return undefined
  if (status === '206') return numberIn(/^content-range: bytes \d+-\d+\/(\d+)/im.exec(head)?.[1])
  if (status !== '200') return undefined
  if (/^transfer-encoding:.*chunked/im.test(head)) return unchunkedLength(wire.body)
  return numberIn(/^content-length: (\d+)\r$/im.exec(head)?.[1])
}

/** The bytes in all chunks; undefined where the last one is missing. */
function unchunkedLength(body: Buffer): number | undefined {
  let total = 0
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\r\n', at)
    const size = end < 0 ? Number.NaN : Number.parseInt(body.subarray(at, end).toString('latin1'), 16)
    if (Number.isNaN(size)) return undefined
    if (size === 0) return total
    total += size
    at = end + 2 + size + 2
  }
  return undefined
}

const numberIn = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)
