// Size of a content without its bytes: by HEAD, else by a Range of one byte, else unknown.
import type { ContentKindName } from '../../content-kinds.js'
import { Failure, isA } from '../../failure.js'
import type { Http } from '../http/http.js'
import { type ContentFacts, type ContentSize, dateOf, type RequestContext } from '../remote.js'
import { type Capabilities, isItsWay, isSampled } from './capabilities.js'

/**
 * The size, or undefined where this service does not state it; `capabilities` keeps the method that worked.
 * @throws Failure, 'absent' only if a GET says so: a service without HEAD may call everything absent
 */
export async function sizeOf(
  http: Http,
  path: string,
  of: ContentKindName,
  capabilities: Capabilities,
  context: RequestContext,
): Promise<ContentSize | undefined> {
  const source = capabilities.sizes[of]
  if (source === undefined && isAssumedUnknown(capabilities, of)) return undefined
  const head = source === 'range' ? notAsked : await sizeByHead(http, path, context)
  if (head.told !== undefined) {
    capabilities.sizes[of] = 'head'
    return head.told
  }
  const { honoured, size, version, refused } = await http.firstByte({ method: 'GET', path }, context)
  // A service that has stated sizes before is always asked again; an error in place of an answer proves nothing.
  if (source === undefined && honoured && size !== undefined) capabilities.sizes[of] = 'range'
  else if (source === undefined && head.refused && refused) countUnknownSize(capabilities, of)
  if (honoured) Object.assign(capabilities, { ranges: true, unranged: 0 })
  // The total length also comes from the body itself, so it is no second source.
  return honoured && size !== undefined ? { bytes: size, modified: dateOf(version) } : undefined
}

/** After several contents in a row without a size this service counts as one without HEAD and Range for them. */
function isAssumedUnknown(capabilities: Capabilities, of: ContentKindName): boolean {
  const timesUnknown = capabilities.untold?.[of] ?? 0
  if (!isItsWay(timesUnknown)) return false
  countUnknownSize(capabilities, of)
  return !isSampled(timesUnknown)
}

/** A part came, or a length was stated after all: what was concluded about the service is dropped. */
export function forgetUnknownSizes(capabilities: Capabilities, of: ContentKindName): void {
  if (capabilities.untold?.[of] !== undefined) capabilities.untold = { ...capabilities.untold, [of]: 0 }
}

function countUnknownSize(capabilities: Capabilities, of: ContentKindName): void {
  capabilities.untold = { ...capabilities.untold, [of]: (capabilities.untold?.[of] ?? 0) + 1 }
}

/** What each source states now; discovered capabilities do not skip the request. @throws Failure as `sizeOf` */
export async function factsOf(
  http: Http,
  path: string,
  of: ContentKindName,
  capabilities: Capabilities,
  context: RequestContext,
): Promise<ContentFacts> {
  const { told } = await sizeByHead(http, path, context)
  const { honoured, size, version } = await http.firstByte({ method: 'GET', path }, context)
  if (told !== undefined || (honoured && size !== undefined && size > 0)) forgetUnknownSizes(capabilities, of)
  return { head: told?.bytes, range: honoured ? size : undefined, version }
}

/** The size from HEAD; `refused`: a proper answer without a size. */
interface HeadSize {
  readonly told: ContentSize | undefined
  readonly refused: boolean
}

const notAsked: HeadSize = { told: undefined, refused: false }

/** Only a failure that every other request would meet is thrown. */
async function sizeByHead(http: Http, path: string, context: RequestContext): Promise<HeadSize> {
  try {
    return { told: await http.head({ method: 'HEAD', path }, context), refused: true }
  } catch (failure) {
    const refusesHead = failure instanceof Failure && (isA('denial', failure) || failure.kind === 'broken')
    if (!refusesHead) throw failure
    return { told: undefined, refused: failure.kind !== 'broken' }
  }
}
