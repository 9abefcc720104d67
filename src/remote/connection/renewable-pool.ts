// Connections to the service by what they are for; they can be renewed: what is idle goes, what is under way ends where it is, and what follows gets new ones.
import type { Dispatcher } from 'undici'
import { type ConnectionOptions, openConnectionPool } from './connections.js'

type Pool = Pick<Dispatcher, 'dispatch'>

export interface ServiceConnections {
  readonly requests: Pool
  /** Extra bytes after an answer to HEAD (a body, a second head) would be taken for the next answer on its connection. */
  readonly heads: Pool
  /** Each on a new connection, which says whether the service can be reached now. */
  readonly probes: Pool
  renew(): void
  destroy(): Promise<void>
}

/** @param extra connections beside those of the options, for changes whose answers are late */
export function openServiceConnections(
  base: URL,
  options: ConnectionOptions,
  extra: number,
): ServiceConnections {
  const requests = renewable(() =>
    openConnectionPool(base, { ...options, connections: options.connections + extra }),
  )
  const heads = renewable(() => openConnectionPool(base, options))
  const probes = openConnectionPool(base, { ...options, alwaysNew: true })
  return {
    requests,
    heads,
    probes,
    renew() {
      requests.renew()
      heads.renew()
    },
    destroy: async () => void (await Promise.all([requests, heads, probes].map(pool => pool.destroy()))),
  }
}

function renewable(open: () => Dispatcher): Pool & Pick<ServiceConnections, 'renew' | 'destroy'> {
  let current = open()
  const former = new Set<Dispatcher>()
  return {
    dispatch: (options, handler) => current.dispatch(options, handler),
    renew() {
      const old = current
      current = open()
      former.add(old)
      old
        .close()
        .catch(() => {})
        .finally(() => former.delete(old))
    },
    async destroy() {
      await Promise.all([current, ...former].map(pool => pool.destroy()))
    },
  }
}
