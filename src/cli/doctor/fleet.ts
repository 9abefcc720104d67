// Checks of the fleet from this machine: its key, its server, how fast that answers, and what its user may do there.

import { performance } from 'node:perf_hooks'
import type { Config } from '../../config/config.js'
import { BadSetting } from '../../config/settings.js'
import { type FleetAddress, fleetAddress } from '../../fleet/address.js'
import { slowMs } from '../../fleet/breaker.js'
import { nodeOfCluster, reasonOf, wantsCertificate } from '../../fleet/connection.js'
import { readFleetKey, type SealedName } from '../../fleet/seal.js'
import { FleetStore } from '../../fleet/store.js'
import { systemClock } from '../../remote/clock.js'
import { bad, type Finding, good, poor } from './finding.js'

type FleetSettings = Pick<Config, 'fleetKeyFile' | 'caFile'> & {
  readonly fleet: string
}

/** Users and their rights as docs/operations.md gives them. */
const ruleOfRights = 'docs/operations.md has the line for users.acl'

export async function fleetFindings(settings: FleetSettings): Promise<readonly Finding[]> {
  const findings = [keyFinding(settings.fleetKeyFile)]
  try {
    const address = fleetAddress(settings.fleet)
    findings.push(...wayFindings(address), ...seen(address, await lookAtFleet(address, settings.caFile)))
  } catch (thrown) {
    if (!(thrown instanceof BadSetting)) throw thrown
    findings.push(wrongSetting('fleet', thrown))
  }
  return findings
}

/** No mount comes up with it; the sentence says what to do. */
const wrongSetting = (check: string, { message }: BadSetting): Finding => ({
  check,
  state: 'bad',
  found: message,
})

function keyFinding(file: string | undefined): Finding {
  const check = 'fleet key'
  if (file === undefined)
    return bad(check, 'there is none', 'calcfs fleet key FILE, and --fleet-key-file FILE on every node')
  try {
    readFleetKey(file)
    return good(check, `${file}, readable by you alone`)
  } catch (thrown) {
    if (!(thrown instanceof BadSetting)) throw thrown
    return wrongSetting(check, thrown)
  }
}

const here = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/

function wayFindings({ tls, hosts, shown }: FleetAddress): readonly Finding[] {
  const check = 'fleet TLS'
  if (tls) return [good(check, 'on')]
  if (hosts.every(({ host }) => here.test(host))) return [good(check, 'not needed: it is this machine')]
  return [
    poor(
      check,
      'off: the values are sealed, but the password of the fleet goes over the network as it is',
      `${shown.replace('://', 's://')} with --ca-file, or a network that is yours alone`,
    ),
  ]
}

function seen(address: FleetAddress, look: FleetLook): readonly Finding[] {
  const { shown } = address
  if ('away' in look)
    return [poor('fleet', `${shown} is passed by: ${look.away}`, mendOf(look.away, address))]
  const { tookMs, refused } = look
  return [
    good('fleet', `${shown} answers`),
    refused === undefined
      ? good('fleet rights', 'all that a mount needs')
      : poor('fleet rights', `its user may not do all that is needed: ${refused}`, ruleOfRights),
    tookMs <= slowMs / 2
      ? good('fleet speed', `a command takes ${tookMs.toFixed(1)} ms`)
      : poor(
          'fleet speed',
          `a command takes ${Math.round(tookMs)} ms: with one of ${slowMs} ms it is passed by`,
          'a Valkey nearer to the nodes',
        ),
  ]
}

function mendOf(why: string, { hosts, tls }: FleetAddress): string {
  if (/NOAUTH|WRONGPASS/.test(why))
    return 'valkey://USER:PASSWORD@host, percent-encoded, in a configuration file of mode 0600'
  if (why === wantsCertificate) return 'tls-auth-clients no, in the file of the server'
  if (why === nodeOfCluster) return 'valkey://host1:6379,host2:6379'
  if (/certificate|self.signed|SSL|TLS/i.test(why))
    return '--ca-file FILE with the authority of its certificate'
  if (tls && /TIMEDOUT/.test(why))
    return 'is TLS spoken at this port? Without TLS it is valkey://, not valkeys://'
  if (hosts.length > 1 && /cluster support/i.test(why))
    return 'several hosts are nodes of one cluster; name one host otherwise'
  return 'see to it that it runs, and that this machine may connect; the drive works without it'
}

type FleetLook =
  | { readonly away: string }
  | {
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
async function lookAtFleet(address: FleetAddress, caFile: string | undefined): Promise<FleetLook> {
  let settle: (away: string | undefined) => void = () => {}
  const begun = new Promise<string | undefined>(resolve => {
    settle = resolve
  })
  const store: FleetStore = new FleetStore({
    address,
    caFile,
    clock: systemClock,
    name: probe,
    hear: () => {},
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
    return isRefusal(away) ? { tookMs: 0, refused: away } : { away }
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
    () => store.hold(probe, probe, lifeMs),
    () => store.put(probe, probe, nothing, lifeMs, 'short'),
    () => store.take(probe, probe, 0, 'long'),
    () => store.hold(probe, probe, 0),
    () => store.drop(probe),
    () => store.tell(nothing),
    () => store.words(),
    () => store.leave(probe),
  ]
  let away: string | undefined
  for (const command of commands) away ??= await command().then(() => undefined, reasonOf)
  if (away !== undefined && !isRefusal(away)) return { away }
  return { tookMs: Math.min(...times), refused: away }
}
