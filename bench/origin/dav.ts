// WebDAV door: as much of RFC 4918 as a read-only client needs.
import { type Entry, modifiedOf, type Paths, type Place } from '../trees/paths.js'
import { pathIn } from './plain.js'
import { type Exchange, sendFile, sendText, tagOf } from './send.js'

const xml = { 'content-type': 'application/xml; charset=utf-8' }

/** Answers OPTIONS, PROPFIND of depth 0 and 1, GET and HEAD. Class 2 (locks) is claimed and missing: mount read-only. */
export function davDoor(paths: Paths): (exchange: Exchange) => void {
  const listings = new Map<string, Buffer>()

  /** The resource itself, and for depth 1 what is in it. */
  function properties(path: string, place: Place, depth: '0' | '1'): Buffer {
    const key = `${depth} ${path}`
    const known = listings.get(key)
    if (known !== undefined) return known
    const here = path.replace(/\/$/, '')
    const self = response(place.kind === 'file' ? here : `${here}/`, selfOf(place), place)
    const inside = depth === '0' ? [] : (paths.entries(place) ?? [])
    const items = inside.map(entry => {
      const at = `${here}/${entry.name}`
      return response(entry.size === undefined ? `${at}/` : at, entry, paths.at(at))
    })
    const made = Buffer.from(
      `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">${self}${items.join('')}</D:multistatus>\n`,
    )
    listings.set(key, made)
    return made
  }

  return exchange => {
    const { request, asked } = exchange
    request.resume() // the body of PROPFIND names properties; an answer may hold more than those
    if (request.method === 'OPTIONS') {
      asked.kind = 'options'
      return sendText(exchange, 200, '', { dav: '1, 2', allow: 'OPTIONS, GET, HEAD, PROPFIND' })
    }
    const path = pathIn(request.url)
    const place = path === undefined ? undefined : paths.at(path)
    asked.kind = place?.kind === 'file' ? 'file' : 'absent'
    if (path === undefined || place === undefined) return sendText(exchange, 404, '', {})
    if (request.method === 'PROPFIND') {
      const depth = request.headers['depth'] === '0' ? '0' : '1'
      asked.kind = depth === '0' ? 'properties' : 'list'
      return sendText(exchange, 207, properties(path, place, depth), xml)
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return sendText(exchange, 405, '', {})
    if (place.kind !== 'file') return sendText(exchange, 405, '', {})
    sendFile(exchange, place.file, 'validators')
  }
}

function selfOf(place: Place): Entry {
  switch (place.kind) {
    case 'file':
      return { name: '', size: place.file.size, modified: modifiedOf(place.file.calculation) }
    case 'calculation':
      return { name: '', size: undefined, modified: modifiedOf(place.calculation.id) }
    case 'project':
      return { name: '', size: undefined, modified: modifiedOf(place.project.id) }
  }
}

function response(at: string, { size, modified }: Entry, place: Place | undefined): string {
  const ofFile =
    place?.kind === 'file'
      ? `<D:resourcetype/><D:getcontentlength>${size}</D:getcontentlength><D:getetag>${tagOf(place.file)}</D:getetag>`
      : '<D:resourcetype><D:collection/></D:resourcetype>'
  const date = new Date(modified).toUTCString()
  return `<D:response><D:href>${encodeURI(at)}</D:href><D:propstat><D:prop>${ofFile}<D:getlastmodified>${date}</D:getlastmodified></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`
}
