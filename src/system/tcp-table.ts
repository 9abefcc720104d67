// The kernel's table of TCP connections: whether one of this process leads nowhere, which no error tells for minutes.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'

/** Of a healthy path the first one is answered; a lost packet costs one. */
const retriesInVain = 2
const established = '01'

/**
 * Whether the far end of an established connection of this process has acknowledged nothing for some time, or its near end is an
 * address that this machine no longer has: a tunnel that died, another network, a peer that slept. Unlike a slow answer, the
 * request itself has not arrived. False where the system has no such table (macOS).
 */
export async function hasDeadConnection(): Promise<boolean> {
  const [four, six, sockets] = await Promise.all([rows('tcp'), rows('tcp6'), ownSockets()])
  const own = [...four, ...six].filter(({ state, inode }) => state === established && sockets.has(inode))
  if (own.length === 0) return false
  const addresses = ownAddresses()
  return own.some(
    ({ waiting, retries, probes, local }) =>
      (waiting > 0 && retries >= retriesInVain) || probes >= retriesInVain || !addresses.has(local),
  )
}

/** A line of proc_net_tcp(5). */
interface Row {
  readonly local: string
  readonly state: string
  /** Bytes that are sent and not acknowledged. */
  readonly waiting: number
  readonly retries: number
  /** Keep-alive packets without an answer. */
  readonly probes: number
  readonly inode: string
}

async function rows(table: 'tcp' | 'tcp6'): Promise<readonly Row[]> {
  const text = await readFile(`/proc/self/net/${table}`, 'utf8').catch(noTable)
  const lines = text.trimEnd().split('\n').slice(1)
  return lines.map(line => {
    const [, local = '', , state = '', queues = '', , retries = '', , probes = '', inode = ''] = line
      .trim()
      .split(/\s+/)
    return {
      local: local.slice(0, local.indexOf(':')),
      state,
      waiting: Number.parseInt(queues, 16),
      retries: Number.parseInt(retries, 16),
      probes: Number(probes),
      inode,
    }
  })
}

const noTable = (): string => ''

/** Inode numbers of the sockets of this process. */
async function ownSockets(): Promise<ReadonlySet<string>> {
  const numbers = await readdir('/proc/self/fd').catch(() => [])
  const targets = await Promise.all(numbers.map(number => readlink(`/proc/self/fd/${number}`).catch(noTable)))
  return new Set(targets.flatMap(target => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []))
}

/** As the table writes them: words of four bytes in the machine's order. */
function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap(some => some ?? [])
  return new Set(
    all.flatMap(({ address, family }) =>
      family === 'IPv4'
        ? [inTable(bytesOf4(address)), inTable(mapped(bytesOf4(address)))]
        : [inTable(bytesOf6(address))],
    ),
  )
}

const bytesOf4 = (address: string): Buffer => Buffer.from(address.split('.').map(Number))

/** An IPv4 connection in the table of IPv6. */
const mapped = (address: Buffer): Buffer =>
  Buffer.concat([Buffer.alloc(10), Buffer.from([0xff, 0xff]), address])

function bytesOf6(address: string): Buffer {
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const words = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const before = words(head)
  const after = tail === undefined ? [] : words(tail)
  const between = tail === undefined ? 0 : 8 - before.length - after.length
  const all = [...before, ...Array.from({ length: between }, () => '0'), ...after]
  return Buffer.from(all.map(word => word.padStart(4, '0')).join(''), 'hex')
}

function inTable(address: Buffer): string {
  const swapped = littleEndian ? Buffer.from(address).swap32() : address
  return swapped.toString('hex').toUpperCase()
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1
