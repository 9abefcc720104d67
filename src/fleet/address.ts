// Address of a fleet: scheme, hosts and sign-in of the Valkey or Redis that its mounts share.
import { BadSetting } from '../config/settings.js'

interface FleetHost {
  readonly host: string
  readonly port: number
}

/** Several hosts are nodes of one cluster. */
export interface FleetAddress {
  readonly hosts: readonly [FleetHost, ...FleetHost[]]
  readonly tls: boolean
  readonly user: string | undefined
  /** Never shown: the address is, as `shown` writes it. */
  readonly password: string | undefined
  readonly shown: string
}

const form = /^(valkey|redis)(s?):\/\/(?:([^@/]*)@)?([^@/]+)\/?$/
const hostForm = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::([0-9]{1,5}))?$/
const usualPort = 6379

/** @throws BadSetting for anything but `valkey://[user:password@]host[:port][,host…]`, `valkeys://` and the same of `redis` */
export function fleetAddress(text: string): FleetAddress {
  const [, engine = '', secure = '', signIn, list = ''] = form.exec(text) ?? []
  const [first, ...rest] = list.split(',').map(hostIn)
  if (engine === '' || first === undefined || [first, ...rest].includes(undefined))
    throw new BadSetting(
      '--fleet: this is no address of a Valkey or Redis; write valkey://host:6379, or valkeys:// for TLS.',
    )
  const hosts = [first, ...(rest as FleetHost[])] as const
  const [user, password] = signInOf(signIn)
  const shownHosts = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
  const shown = `${engine}${secure}://${shownHosts.join(',')}`
  return { hosts, tls: secure === 's', user, password, shown }
}

function hostIn(text: string): FleetHost | undefined {
  const [, six, name, port] = hostForm.exec(text.trim()) ?? []
  const host = six ?? name
  const number = port === undefined ? usualPort : Number(port)
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number }
}

/** `user:password`, `:password`, or `user` alone, each percent-encoded. */
function signInOf(text: string | undefined): readonly [string | undefined, string | undefined] {
  if (text === undefined) return [undefined, undefined]
  const colon = text.indexOf(':')
  const [user, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  try {
    return [decodeURIComponent(user) || undefined, decodeURIComponent(password) || undefined]
  } catch (cause) {
    const sentence = '--fleet: user and password are percent-encoded in an address; one of them is not.'
    throw new BadSetting(sentence, { cause })
  }
}
