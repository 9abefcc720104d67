// How the size of a content is found without its bytes: HEAD, else a Range of one byte, else not at all.
import { Failure } from '../../failure.js'
import type { Http } from '../http/http.js'
import type { Ask, ByteCount, ContentFacts } from '../remote.js'
import { isItsWay, isSampled, type Learned } from './capabilities.js'

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
  if (source === undefined && isTakenForUntold(learned, of)) return undefined
  const { told, refused } = source === 'range' ? notAsked : await byHead(http, path, ask)
  if (told !== undefined) {
    learned.sizes[of] = 'head'
    return told
  }
  const { honoured, size } = await http.firstByte({ method: 'GET', path }, ask)
  // A service that was seen to tell sizes is always asked again; an error in the place of an answer says nothing.
  if (source === undefined && honoured && size !== undefined) learned.sizes[of] = 'range'
  else if (source === undefined && refused) count(learned, of)
  if (honoured) Object.assign(learned, { ranges: true, unranged: 0 })
  // The length of the whole is what its own body will say, and no second source for it.
  return honoured ? size : undefined
}

/** After several contents in a row without a size this service is taken to have neither HEAD nor Range for them. */
function isTakenForUntold(learned: Learned, of: 'file' | 'xyz'): boolean {
  const untold = learned.untold?.[of] ?? 0
  if (!isItsWay(untold)) return false
  count(learned, of)
  return !isSampled(untold)
}

function count(learned: Learned, of: 'file' | 'xyz'): void {
  learned.untold = { ...learned.untold, [of]: (learned.untold?.[of] ?? 0) + 1 }
}

/** What each source says now; nothing that was learned of a service spares the question. @throws Failure as `sizeOf` */
export async function factsOf(http: Http, path: string, ask: Ask): Promise<ContentFacts> {
  const { told } = await byHead(http, path, ask)
  const { honoured, size, version } = await http.firstByte({ method: 'GET', path }, ask)
  return { head: told, range: honoured ? size : undefined, version }
}

/** What HEAD tells; `refused`: it is answered in due form, and without a size. */
interface ByHead {
  readonly told: ByteCount | undefined
  readonly refused: boolean
}

const notAsked: ByHead = { told: undefined, refused: false }

/** Only a failure that no other question would escape is thrown. */
async function byHead(http: Http, path: string, ask: Ask): Promise<ByHead> {
  try {
    return { told: await http.head({ method: 'HEAD', path }, ask), refused: true }
  } catch (failure) {
    const refusesHead =
      failure instanceof Failure && /^(absent|unsupported|invalid|forbidden|broken)$/.test(failure.kind)
    if (!refusesHead) throw failure
    return { told: undefined, refused: failure.kind !== 'broken' }
  }
}
