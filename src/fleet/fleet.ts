// Fleet: what many mounts of one user share, so that they ask the service once.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { AnswerSource } from '../cache/metadata/query.js'
import { type Clock, sleep } from '../remote/clock.js'
import type { Remote } from '../remote/remote.js'
import { type Say, seldom } from '../seldom.js'
import { openSharedContents } from './contents/shared-contents.js'
import type { FleetAddress } from './engine/fleet-address.js'
import type { ServerFacts } from './engine/fleet-connection.js'
import type { FleetKey } from './engine/fleet-key.js'
import { openFleetStore } from './engine/fleet-store.js'
import { openSeal } from './engine/seal.js'
import { type FleetNode, openFleetNodes } from './fleet-nodes.js'
import { type ChangeElsewhere, type FleetNews, openFleetNews } from './shared/fleet-news.js'
import { openLateChanges } from './shared/late-changes.js'
import { openSharedAnswers } from './shared/shared-answers.js'
import { openSharedCapabilities, type ServiceFacts } from './shared/shared-capabilities.js'
import type { FleetCounts } from './shared/shared-value.js'

export interface Fleet {
  readonly answers: AnswerSource
  /** The platform, asked for contents only where the fleet does not have them. */
  around(remote: Remote): Remote
  /** A content was found to be another version. */
  replaced(name: string): void
  status(): FleetStatus
  /** Every mount that shares it. @throws FleetAway */
  nodes(): Promise<readonly FleetNode[]>
  /** The server's own facts. @throws FleetAway */
  server(): Promise<ServerFacts>
  /** Drops what lies there, of every user; how many values. @throws FleetAway */
  clear(): Promise<number>
  /** Resolves when it is connected and hears what the others say. */
  ready(): Promise<void>
  /** Resolves when that is so, or will not be soon: a mount waits for it a moment before its first question. */
  begun(): Promise<void>
  close(): Promise<void>
}

export interface FleetStatus extends Readonly<FleetCounts> {
  /** How many mounts share it now. */
  readonly nodes: number
  readonly address: string
  /** Why it is passed by; undefined while it is used. */
  readonly away: string | undefined
  /** Why nothing more can be put there; undefined where that is not so. */
  readonly full: string | undefined
  /** Milliseconds of the median command, and of the last news on its way back. */
  readonly medianMs: number | undefined
  readonly lagMs: number | undefined
}

export interface FleetOptions {
  readonly address: FleetAddress
  readonly key: FleetKey
  readonly caFile: string | undefined
  /** Values of one user at one service are read by no other. */
  readonly scope: readonly [service: string, user: string]
  readonly clock: Clock
  /** What is found out about the service. */
  readonly facts: ServiceFacts
  readonly log: Say
  /** Another daemon has changed it. */
  readonly outdated: (change: ChangeElsewhere) => void
}

/** Milliseconds that a mount waits for its first connection. */
const firstMs = 250

/** Connects in the background; until it is there, and whenever it is slow or gone, the service is asked as without it. */
export function openFleet({
  address,
  key,
  caFile,
  scope,
  clock,
  facts,
  outdated,
  ...options
}: FleetOptions): Fleet {
  const log = seldom(options.log, clock)
  const tellState = seldom(options.log, clock)
  const node = randomBytes(9).toString('base64url')
  const seal = openSeal(key, scope, clock.now)
  const counts: FleetCounts = { hits: 0, asked: 0, received: 0, sent: 0, wrong: 0 }
  let wasAway = false
  const store = openFleetStore({
    address,
    caFile,
    clock,
    away(sentence) {
      wasAway = true
      tellState('the fleet is passed by', { fleet: address.shown, why: sentence })
    },
    filled: sentence => log('the fleet takes nothing more', { fleet: address.shown, why: sentence }),
    back() {
      if (wasAway) tellState('the fleet is used again', { fleet: address.shown })
      news.back()
      nodes.back()
      changes.resend()
    },
  })
  const changes = openLateChanges({ store, node, news: () => news, crossed: hear })
  const news: FleetNews = openFleetNews({
    carrier: store.news,
    seal,
    clock,
    node,
    hear,
    missed: () => outdated({ is: 'all' }),
  })
  const own = (): FleetNode => ({ host: hostname(), pid: process.pid, ...counts })
  const nodes = openFleetNodes({ store, seal, clock, node, own })
  const shared = openSharedCapabilities({ store, seal, clock, facts })
  const ports = { store, seal, clock, node, counts, log }
  const answers = openSharedAnswers(ports, news, changes)
  const contents = openSharedContents(ports, changes)

  function hear(change: ChangeElsewhere): void {
    // The answer to one question was replaced in the fleet before this was said.
    if (change.is === 'all') answers.outdated()
    if (change.is === 'content') contents.outdated(change.name)
    outdated(change)
  }

  return {
    answers,
    around: contents.around,
    replaced: contents.replaced,
    status: () => ({
      ...counts,
      nodes: nodes.count,
      address: address.shown,
      away: store.breaker.why,
      full: store.full,
      medianMs: store.breaker.median,
      lagMs: news.lagMs,
    }),
    nodes: nodes.all,
    server: store.info,
    clear: store.clear,
    async ready() {
      await news.heard
    },
    async begun() {
      await Promise.race([news.heard, store.refused, sleep(clock, firstMs)])
      await shared.join()
    },
    async close() {
      news.end()
      shared.end()
      await nodes.end()
      store.close()
    },
  }
}
