// Contenders: the peers, the limits of the link without a mount, and the floors.
import { calcfs, calcfsCommands, calcfsUnmounted } from '../peers/calcfs.js'
import { davfs2, httpdirfs, rclone } from '../peers/http.js'
import { localDisk, passThrough, passThroughLibfuse } from '../peers/local.js'
import type { Peer } from '../peers/peers.js'
import { sshfs } from '../peers/sshfs.js'
import type { Arena } from './arena.js'
import { hasLimit, type Limited, limitOf } from './contender-limits.js'
import type { Verdicts } from './trial.js'

export interface Contender {
  readonly name: string
  /** Own: calcfs and the limits. Weaker: a mode that the same program's other mode beats over a slow link. */
  readonly rank: 'own' | 'floor' | 'best' | 'weaker'
  readonly options: string
  readonly peer?: Peer
  /** Whether it has anything to do there. */
  readonly does: (limited: Limited) => boolean
  /** What there is instead of a mount. */
  readonly limit?: (item: Limited, arena: Arena) => Promise<Verdicts | undefined>
}

const ofPeer =
  (rank: Contender['rank']) =>
  (peer: Peer): Contender => ({ name: peer.name, rank, options: peer.options, does: () => true, peer })

const raw = (connections: number): Contender => ({
  name: `raw ×${connections}`,
  rank: 'own',
  options: `undici asking the same of the REST interface over ${connections} connections, keeping nothing`,
  does: hasLimit,
  limit: (item, arena) => limitOf(item, arena, connections),
})

/** What the commands of calcfs do in the place of a program on the mount. */
const copies: readonly string[] = ['cp', 'find']
const copied: readonly string[] = ['lab', 'small']

const all: readonly Contender[] = [
  ofPeer('own')(calcfs),
  ...[calcfsCommands, calcfsUnmounted].map(peer => ({
    ...ofPeer('own')(peer),
    does: ({ work, tree }: Limited) => copies.includes(work.name) && copied.includes(tree),
  })),
  ...[16, 64].map(raw),
  ...[passThrough, passThroughLibfuse, localDisk].map(ofPeer('floor')),
  ...[rclone('http', 'full'), rclone('webdav', 'full'), davfs2, sshfs, httpdirfs].map(ofPeer('best')),
  ...[rclone('http', 'off'), rclone('webdav', 'off')].map(ofPeer('weaker')),
]

/**
 * The selected contenders, those of them that can run, and why the others cannot.
 * @throws Error for a name that none of them has
 */
export function contenders(options: { readonly peers?: readonly string[]; readonly quick: boolean }): {
  readonly all: readonly Contender[]
  readonly present: readonly Contender[]
  readonly absent: Readonly<Record<string, string>>
} {
  const unknown = options.peers?.find(part => part === '' || !all.some(({ name }) => name.includes(part)))
  if (unknown !== undefined) {
    const right = all.map(({ name }) => name).join(', ')
    throw new Error(`there is no contender "${unknown}"; there are: ${right}`)
  }
  const asked = all.filter(({ name, rank }) => {
    if (options.peers !== undefined) return options.peers.some(part => name.includes(part))
    return !options.quick || rank === 'own' || rank === 'floor'
  })
  const reasons = asked.flatMap(({ name, peer }) => {
    const why = peer?.lacks()
    return why === undefined ? [] : [[name, why] as const]
  })
  const absent = Object.fromEntries(reasons)
  return { all: asked, present: asked.filter(({ name }) => absent[name] === undefined), absent }
}
