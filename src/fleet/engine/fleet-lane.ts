// Fleet lane: values and their leases over one connection, so that long values delay no short ones.
import type { Cluster, Redis } from 'ioredis'
import { noop } from '../../noop.js'
import { channelOf, type FleetScripts, leaseKey, valueKey, writerKey } from './fleet-scripts.js'
import type { SealedName } from './seal.js'

/** What lies under a name, or who asks for it. */
export type Taken =
  | { readonly is: 'there'; readonly value: Buffer; readonly leftMs: number }
  /** The lease is the caller's: it asks the service, and puts the answer or releases it. */
  | { readonly is: 'leased' }
  /** Another daemon asks. */
  | { readonly is: 'asked' }
  /** Nothing more can be put there. */
  | { readonly is: 'full' }

/** All reject with FleetAway. */
export interface FleetLane {
  /** The value, where it counts for longer than `leftMs`; else a lease of so many milliseconds for `owner`, who may take it again. */
  take(name: SealedName, owner: string, leaseMs: number, leftMs?: number): Promise<Taken>
  /** Puts it under the lease; false where that is another's by now, something has changed meanwhile, or there is no room. */
  put(name: SealedName, owner: string, value: Buffer, livesMs: number): Promise<boolean>
  /** Ends the lease without a value: the next one asks. */
  release(name: SealedName, owner: string): Promise<void>
  renew(name: SealedName, owner: string, leaseMs: number): Promise<void>
  /** What lay there is over, and so is what is being asked now; `value` takes its place. */
  change(name: SealedName, value: Buffer | undefined, livesMs: number): Promise<void>
  /** The same of what `node` itself has changed; false where another node has done so lately: `value` may be the older one, and is not put. */
  replace(name: SealedName, node: string, value: Buffer | undefined, livesMs: number): Promise<boolean>
  /** The fleet is used again: ends the leases that could not be ended while it was not. */
  back(): void
}

/** Runs a command within its patience. */
export type RunCommand = <Answer>(command: () => Promise<Answer>) => Promise<Answer>

const leased = 1
const full = 2
const isThere = 3
const put = 1
const alone = 1
/** Milliseconds for which a change is held to be at the same time as others: longer than a save takes. */
const writerMs = 60_000

export function openFleetLane(
  client: Redis | Cluster,
  run: RunCommand,
  filled: () => void,
  length: 'short' | 'long',
): FleetLane {
  const commands = client as unknown as FleetScripts
  /** Leases by their names, with their owners, that nothing uses any more. */
  const left = new Map<SealedName, string>()

  async function ending<Answer>(
    name: SealedName,
    owner: string,
    command: () => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await run(command)
    } catch (thrown) {
      forsake(name, owner)
      throw thrown
    }
  }

  /** Where the fleet is only slow, the others need not wait for the lease to run out. */
  function forsake(name: SealedName, owner: string): void {
    left.set(name, owner)
    commands.fleetRelease(leaseKey(name), owner, channelOf(name)).then(() => {
      if (left.get(name) === owner) left.delete(name)
    }, noop)
  }

  /** A command that was given up may be carried out all the same: its lease would be waited for in vain. */
  async function taking<Answer>(
    name: SealedName,
    owner: string,
    command: () => Promise<Answer>,
  ): Promise<Answer> {
    let sent: Promise<Answer> | undefined
    try {
      return await run(() => {
        sent = command()
        return sent
      })
    } catch (thrown) {
      if (sent !== undefined) forsake(name, owner)
      throw thrown
    }
  }

  const release = async (name: SealedName, owner: string): Promise<void> => {
    await ending(name, owner, () => commands.fleetRelease(leaseKey(name), owner, channelOf(name)))
  }

  /** How much longer a long value lives makes no difference. */
  async function takeLong(name: SealedName, owner: string, leaseMs: number): Promise<Taken> {
    const [value, answer] = await taking(name, owner, () =>
      Promise.all([
        client.getBuffer(valueKey(name)),
        understood(commands.fleetClaim(valueKey(name), leaseKey(name), owner, leaseMs)),
      ]),
    )
    if (answer !== isThere) return withoutValue(answer)
    // It was put between the two.
    return value === null ? takeLong(name, owner, leaseMs) : { is: 'there', value, leftMs: 0 }
  }

  function withoutValue(answer: unknown): Taken {
    if (answer === full) filled()
    return { is: answer === full ? 'full' : answer === leased ? 'leased' : 'asked' }
  }

  /** As the scripts answer. */
  async function understood<Answer>(command: Promise<Answer>): Promise<Answer> {
    const answer = await command
    const isOurs = Array.isArray(answer) ? Buffer.isBuffer(answer[0]) : typeof answer === 'number'
    if (!isOurs) throw new Error(nonsense)
    return answer
  }

  return {
    async take(name, owner, leaseMs, leftMs = 0) {
      if (length === 'long') return takeLong(name, owner, leaseMs)
      const answer = await taking(name, owner, () =>
        understood(
          commands.fleetTakeBuffer(valueKey(name), leaseKey(name), owner, leaseMs, Math.ceil(leftMs)),
        ),
      )
      if (Array.isArray(answer) && Buffer.isBuffer(answer[0]))
        return { is: 'there', value: answer[0], leftMs: Number(answer[1]) }
      return withoutValue(answer)
    },
    async put(name, owner, value, livesMs) {
      const answer = await ending(name, owner, () =>
        commands.fleetPut(valueKey(name), leaseKey(name), owner, value, livesMs, channelOf(name)),
      )
      if (answer === full) filled()
      return answer === put
    },
    release,
    back() {
      for (const [name, owner] of left) release(name, owner).catch(noop)
      left.clear()
    },
    async renew(name, owner, leaseMs) {
      await run(() => commands.fleetRenew(leaseKey(name), owner, leaseMs))
    },
    async change(name, value, livesMs) {
      const more = value === undefined ? [] : ([value] as const)
      await run(() => commands.fleetChange(valueKey(name), leaseKey(name), channelOf(name), livesMs, ...more))
    },
    async replace(name, node, value, livesMs) {
      const keys = [valueKey(name), leaseKey(name), writerKey(name)] as const
      const more = value === undefined ? [] : ([value] as const)
      const answer = await run(() =>
        commands.fleetReplace(...keys, channelOf(name), livesMs, node, writerMs, ...more),
      )
      return answer === alone
    },
  }
}

/** Why a server that answers, but not as a script of calcfs, is passed by. */
export const nonsense = 'it answers nonsense: is it a Valkey or Redis?'

/** The server's own word for a key that holds no text. */
export const isOfOtherKind = (thrown: unknown): boolean =>
  thrown instanceof Error && /\bWRONGTYPE\b/.test(thrown.message)

/** The server's own word for a memory that is used up, and a policy that evicts nothing. */
export const isFull = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message.startsWith('OOM')
