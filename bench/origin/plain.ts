// Plain door: the tree as nginx lists directories and serves files, for rclone and httpdirfs.
import type { Entry, Paths, Place } from '../trees/paths.js'
import type { Exchange } from './send.js'
import { sendFile, sendText } from './send.js'

const html = { 'content-type': 'text/html' }

/** Answers GET and HEAD of a listing or a file. */
export function plainDoor(paths: Paths): (exchange: Exchange) => void {
  const listings = new Map<string, Buffer>()

  function listing(path: string, place: Place): Buffer {
    const known = listings.get(path)
    if (known !== undefined) return known
    const made = Buffer.from(autoindex(path, paths.entries(place) ?? []))
    listings.set(path, made)
    return made
  }

  return exchange => {
    const { request, asked } = exchange
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return sendText(exchange, 405, '', { allow: 'GET, HEAD' })
    const path = pathIn(request.url)
    const place = path === undefined ? undefined : paths.at(path)
    asked.kind = place === undefined ? 'absent' : place.kind === 'file' ? 'file' : 'list'
    if (path === undefined || place === undefined) return sendText(exchange, 404, 'Not Found', html)
    if (place.kind === 'file') return sendFile(exchange, place.file, 'validators')
    if (!path.endsWith('/')) return sendText(exchange, 301, '', { location: `${path}/` })
    sendText(exchange, 200, listing(path, place), html)
  }
}

/** The path of an address, decoded and with single slashes; undefined where it cannot be. */
export function pathIn(url: string | undefined): string | undefined {
  const [path = '/'] = (url ?? '/').split('?', 1)
  try {
    return decodeURIComponent(path).replace(/\/+/g, '/')
  } catch {
    return undefined
  }
}

const nameColumn = 51
const sizeColumn = 20

/** What nginx's autoindex writes: directories first, a date to the minute, the exact size. */
function autoindex(path: string, entries: readonly Entry[]): string {
  const lines = [...entries]
    .sort((one, other) => Number(other.size === undefined) - Number(one.size === undefined))
    .map(line)
  const title = `Index of ${path}`
  return `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<h1>${title}</h1><hr><pre><a href="../">../</a>\r\n${lines.join('')}</pre><hr></body>\r\n</html>\r\n`
}

function line({ name, size, modified }: Entry): string {
  const shown = size === undefined ? `${name}/` : name
  const label = shown.length > nameColumn - 1 ? `${shown.slice(0, nameColumn - 4)}..>` : shown
  const gap = ' '.repeat(nameColumn - label.length)
  return `<a href="${encodeURIComponent(name)}${size === undefined ? '/' : ''}">${label}</a>${gap}${dated(modified)}${String(size ?? '-').padStart(sizeColumn)}\r\n`
}

/** `21-Nov-2026 09:12`, in UTC. */
function dated(modified: number): string {
  const [, day, month, year, time] = new Date(modified).toUTCString().split(' ')
  return `${day}-${month}-${year} ${time?.slice(0, 5)}`
}
