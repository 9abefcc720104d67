// How the size of a content is found without its bytes: HEAD, else a Range of one byte, else not at all.
import { Failure } from '../failure.js'
import type { Http } from './http.js'
import type { Learned } from './learned.js'
import type { Ask, ByteCount, ContentFacts } from './remote.js'

/**
 * The size, or undefined where this service cannot tell; the way that worked is remembered in `learned`.
 * @throws Failure, 'absent' only if a GET says so: a service without HEAD may call everything absent
 */
export async function sizeOf(
  http: Http,
  path: string,
  of: 'file' | 'xyz',
  learned: Learned,
  ask: Ask,
): Promise<ByteCount | undefined> {
  const source = learned.sizes[of]
  if (source === 'nowhere') return undefined
  const told = source === 'range' ? undefined : await byHead(http, path, ask)
  if (told !== undefined) {
    learned.sizes[of] = 'head'
    return told
  }
  const { honoured, size } = await http.firstByte({ method: 'GET', path }, ask)
  // One answer without a size may be an empty or an odd file; a service that was seen to tell sizes is asked again.
  if (source === undefined)
    learned.sizes[of] = size === undefined ? 'nowhere' : honoured ? 'range' : 'nowhere'
  if (honoured) learned.ranges = true
  return size
}

/** What each source says now; nothing that was learned of a service spares the question. @throws Failure as `sizeOf` */
export async function factsOf(http: Http, path: string, ask: Ask): Promise<ContentFacts> {
  const head = await byHead(http, path, ask)
  const { honoured, size, version } = await http.firstByte({ method: 'GET', path }, ask)
  return { head, range: honoured ? size : undefined, version }
}

/** Undefined where HEAD tells nothing; only a failure that no other question would escape is thrown. */
async function byHead(http: Http, path: string, ask: Ask): Promise<ByteCount | undefined> {
  try {
    return await http.head({ method: 'HEAD', path }, ask)
  } catch (failure) {
    const refusesHead =
      failure instanceof Failure && /^(absent|unsupported|invalid|forbidden|broken)$/.test(failure.kind)
    if (!refusesHead) throw failure
    return undefined
  }
}
