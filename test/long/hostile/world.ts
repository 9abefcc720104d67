// What the hostile service really holds: each number is a project, a calculation and a report of its own, all made from the number.
import { chance } from '../chance.js'
import { type Answer, said } from './answer.js'
import type { Asked } from './origin.js'

/** Six ways in which services treat HEAD and Range. */
export const ways = [
  'both',
  'head, no range',
  'range, no head',
  'neither',
  'chunked, head without a length',
  'range without a total, head without a length',
] as const
export type Way = (typeof ways)[number]

export const sizes = { '3 kB': 3_000, '300 kB': 300_000, '20 MB': 20_000_000 } as const
export type Size = keyof typeof sizes

export interface World {
  /** The size of one of the things behind a number; all others are small. */
  resize(id: string, what: 'bytes' | 'record' | 'listing', size: Size): void
  bytes(id: string, of: 'file' | 'xyz'): Buffer
  /** The text of a record, as a proper answer has it. */
  record(kind: 'project' | 'calculation' | 'report', id: string): string
  /** Names of what is in a project. */
  children(id: string): readonly string[]
  answer(asked: Asked): Answer
  /** Every token that was given out is refused from now on. */
  expire(): void
}

const longest = sizes['20 MB'] + 70_000

/** Every content is a stretch of it. */
const bulk = chance(20_261_121).bytes(longest)

export function openWorld(way: Way): World {
  const sizeOf = new Map<string, number>()
  let tokens = 1

  const bytes = (id: string, of: 'file' | 'xyz'): Buffer => {
    const length = (sizeOf.get(`bytes ${id}`) ?? 3_000) + (Number(id) % 7)
    const from = (Number(id) * 16 + (of === 'xyz' ? 8 : 0)) % (longest - length)
    return bulk.subarray(from, from + length)
  }
  const filling = (id: string): string =>
    bulk.subarray(0, ((sizeOf.get(`record ${id}`) ?? 300) * 3) >> 2).toString('base64')

  function record(kind: 'project' | 'calculation' | 'report', id: string): string {
    const date = '"creationDate":"2024-01-02T03:04:05Z"'
    const list = kind === 'report' ? ',"reportType":1,"calculations":[]' : ''
    return `{"id":${id},"name":"${kind[0]}${id}","title":"t${id}",${date}${list},"description":"${filling(id)}"}`
  }

  const rows = (id: string): number => Math.ceil((sizeOf.get(`listing ${id}`) ?? 300) / 100)
  const child = (id: string, at: number): string => `${id}${String(at).padStart(6, '0')}`

  function listing(id: string, type: string | null): string {
    if (type === 'project') return '[]'
    const items = Array.from(
      { length: rows(id) },
      (_, at) =>
        `{"id":${child(id, at)},"name":"c${child(id, at)}","creationDate":"2024-01-02T03:04:05Z","parentId":${id}}`,
    )
    return `[${items.join(',')}]`
  }

  function content(asked: Asked, whole: Buffer): Answer {
    const answer = said(200, whole, 'application/octet-stream')
    const ranged = way === 'both' || way.startsWith('range')
    if (asked.method === 'HEAD') {
      if (way === 'range, no head' || way === 'neither')
        return { ...said(405, ''), reason: 'Method Not Allowed' }
      return way.endsWith('without a length')
        ? { ...answer, framing: 'none' }
        : { ...answer, framing: { told: whole.length } }
    }
    const range = /^bytes=(\d+)-(\d*)$/.exec(asked.headers.get('range') ?? '')
    if (range === null || !ranged)
      return way.startsWith('chunked') ? { ...answer, framing: 'chunked' } : answer
    const start = Number(range[1])
    const end = range[2] === '' ? whole.length : Math.min(Number(range[2]) + 1, whole.length)
    const total = way.startsWith('range without') ? '*' : whole.length
    if (start >= whole.length)
      return { ...said(416, ''), headers: [['Content-Range', `bytes */${total}`]], reason: 'No Such Range' }
    return {
      ...answer,
      status: 206,
      headers: [...answer.headers, ['Content-Range', `bytes ${start}-${end - 1}/${total}`]],
      body: whole.subarray(start, end),
    }
  }

  function get(asked: Asked): Answer {
    const id = asked.query.get('id') ?? ''
    switch (asked.path) {
      case '/user/info':
        return said(200, '{"username":"demo"}')
      case '/project':
        return said(200, record('project', id))
      case '/calculation':
        return said(200, record('calculation', id))
      case '/report':
        return said(200, record('report', id))
      case '/project/descendant':
        return said(200, listing(id, asked.query.get('type')))
      case '/project/share':
        return said(200, '[]')
      case '/report/types':
        return said(200, '[{"id":1,"name":"Supporting information","status":"active"}]')
      case '/calculation/files':
        return said(200, asked.query.get('type') === 'cml' ? '["output.cml"]' : '["data.bin","output.cml"]')
      case '/calculation/files/bitstream':
        return content(asked, bytes(id, 'file'))
      case '/calculation/xyz':
        return content(asked, bytes(id, 'xyz'))
      default:
        return { ...said(404, '{}'), reason: 'Not Found' }
    }
  }

  return {
    resize: (id, what, size) => void sizeOf.set(`${what} ${id}`, sizes[size]),
    bytes,
    record,
    children: id => Array.from({ length: rows(id) }, (_, at) => `c${child(id, at)}`),
    expire() {
      tokens += 1
    },
    answer(asked) {
      if (asked.path === '/login') return said(200, `token-${tokens}`, 'text/plain')
      if (asked.headers.get('authorization') !== `Bearer token-${tokens}`)
        return { ...said(401, '{"error":"no such token"}'), reason: 'Unauthorized' }
      return get(asked)
    },
  }
}
