// A look at a fleet: what its server says of itself, how long a command takes, and which of a mount's commands are refused.
import { performance } from 'node:perf_hooks'
import type { FleetAddress } from '../../fleet/address.js'
import { reasonOf, type ServerFacts } from '../../fleet/connection.js'
import type { SealedName } from '../../fleet/seal.js'
import { FleetStore } from '../../fleet/store.js'
import { noop } from '../../noop.js'
import { systemClock } from '../../remote/clock.js'

export type FleetLook =
  | { readonly away: string }
  | {
      /** Undefined where its user may not ask. */
      readonly facts: ServerFacts | undefined
      /** Milliseconds of the fastest command. */
      readonly tookMs: number
      /** The server's words about the first command that it refused. */
      readonly refused: string | undefined
    }

/** Milliseconds for the first connection. */
const patienceMs = 5_000
/** Milliseconds after which what a look has written is gone. */
const lifeMs = 1_000
const probe = 'probe' as SealedName
const nothing = Buffer.from('0')
/** Redis 7.0 has words of its own for what is refused inside a script. */
const isRefusal = (sentence: string): boolean =>
  /^(?:NOPERM|ERR The user executing the script can't) /.test(sentence)

/** @throws BadSetting for a file of authorities that cannot be read */
export async function lookAtFleet(address: FleetAddress, caFile: string | undefined): Promise<FleetLook> {
  let settle: (away: string | undefined) => void = noop
  const begun = new Promise<string | undefined>(resolve => {
    settle = resolve
  })
  const store: FleetStore = new FleetStore({
    address,
    caFile,
    clock: systemClock,
    name: probe,
    hear: noop,
    async beat() {
      await store.listen()
      await store.beat(probe, nothing, lifeMs)
    },
    opened: settle,
    closed: () => settle(undefined),
  })
  const callOff = systemClock.after(patienceMs, () => settle('it does not answer'))
  try {
    const away = await begun
    if (away === undefined) return await looked(store)
    return isRefusal(away) ? { facts: undefined, tookMs: 0, refused: away } : { away }
  } finally {
    callOff()
    store.close()
  }
}

async function looked(store: FleetStore): Promise<FleetLook> {
  const times: number[] = []
  const commands = [
    ...Array.from({ length: 15 }, () => async () => {
      const began = performance.now()
      await store.take(probe, probe, 0, 'short')
      times.push(performance.now() - began)
    }),
    () => store.renew(probe, probe),
    () => store.put(probe, probe, nothing, lifeMs, 'short'),
    () => store.take(probe, probe, 0, 'long'),
    () => store.release(probe, probe),
    () => store.drop(probe),
    () => store.tell(nothing),
    () => store.words(),
    () => store.leave(probe),
  ]
  let away: string | undefined
  for (const command of commands) away ??= await command().then(() => undefined, reasonOf)
  if (away !== undefined && !isRefusal(away)) return { away }
  const facts = await store.info().catch(() => undefined)
  return { facts, tookMs: Math.min(...times), refused: away }
}
