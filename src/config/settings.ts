// The one table of settings: from it come the flags, the CALCFS_ variables, the keys of the file, their types and their help.
import * as z from 'zod'
import { choice, count, duration, loopbackPort, place, size, sizeFrom, text, texts, word } from './units.js'

/** A wrong or missing setting: one sentence that says where and what to write instead. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting'
}

/** The title of each group of settings, in the order in which they are listed: all commands that send requests take those of the service. */
export const groupTitles = { service: 'The service', drive: 'The drive', log: 'The log' } as const
export type Group = keyof typeof groupTitles
export const groups = Object.keys(groupTitles) as readonly Group[]

export interface Setting<Schema extends z.ZodType = z.ZodType> {
  readonly group: Group
  readonly schema: Schema
  /** The value's name in the help; undefined for a switch. */
  readonly value: string | undefined
  readonly help: string
  /** As a user would write it; undefined where there is no default. */
  readonly initial: string | undefined
  readonly repeatable: boolean
}

type Kind<Schema extends z.ZodType> = readonly [schema: Schema, value: string | undefined]

const setting = <Schema extends z.ZodType>(
  group: Group,
  [schema, value]: Kind<Schema>,
  help: string,
): Setting<z.ZodOptional<Schema>> => {
  const optional = schema.optional()
  return { group, schema: optional, value, help, initial: undefined, repeatable: false }
}

const preset = <Schema extends z.ZodType>(
  group: Group,
  [schema, value]: Kind<Schema>,
  initial: string,
  help: string,
): Setting<Schema> => ({ group, schema, value, help, initial, repeatable: false })

const switchedOff = (group: Group, help: string) => preset(group, [choice, undefined], 'no', help)

const aDuration = [duration, '<duration>'] as const
const aNumber = [count, '<number>'] as const
const aPath = [place, '<path>'] as const
const aText = [text, '<text>'] as const

export const settings = {
  url: setting('service', [text, '<url>'], 'address of the service, https://host is enough'),
  user: setting('service', aText, 'user name on the platform'),
  passwordCommand: setting('service', [text, '<command>'], 'its first line of output is the password'),
  passwordFile: setting('service', aPath, 'file of mode 0600 whose first line is the password'),
  keyring: switchedOff(
    'service',
    'keep the token of `calcfs login` in the keyring of the desktop (secret-tool), not in a file',
  ),
  caFile: setting('service', aPath, 'PEM file with the authorities that signed the certificates'),
  insecureHttp: switchedOff(
    'service',
    'allow http:// to other machines: password and data can be read on the way',
  ),
  deadlineMetadata: preset(
    'service',
    aDuration,
    '10s',
    'longest wait for a listing, a record or a size; for the next bytes of a file twice as long',
  ),
  deadlineSave: preset('service', aDuration, '20s', 'longest wait for a save'),
  maxRequests: setting('service', aNumber, 'requests a second at most'),
  bwlimit: setting('service', [size, '<size>'], 'bytes a second at most'),
  stateDir: setting('service', aPath, 'where drafts, history and the token are kept'),

  access: preset(
    'drive',
    [word(['read', 'edit', 'manage']), '<what>'],
    'edit',
    'read; edit: records change and are made; manage: things are also deleted',
  ),
  maxDeletes: preset(
    'drive',
    aNumber,
    '3',
    'things that may be deleted through files at once, with --access manage; calcfs delete is not bound by it',
  ),
  root: {
    group: 'drive',
    schema: texts.prefault([]),
    value: '<path or id>',
    help: 'a project to show under projects/; may be given again',
    initial: undefined,
    repeatable: true,
  },
  ttlListing: preset(
    'drive',
    aDuration,
    '30s',
    'how long a listing is used before it is fetched again; a record for a third of that, a missing name for a sixth',
  ),
  staleLimit: preset('drive', aDuration, '30d', 'use cached answers up to this age while offline'),
  cacheDir: setting('drive', aPath, 'where contents that were read are kept'),
  cacheSize: preset(
    'drive',
    [sizeFrom(1 << 20, '1M'), '<size>'],
    '10G',
    'how much of the disk they may take, 1M at least',
  ),
  fleet: setting(
    'drive',
    [text, '<url>'],
    'Valkey or Redis that many mounts share, valkey://USER:PASSWORD@HOST:6379; the service is asked once for all',
  ),
  fleetKeyFile: setting(
    'drive',
    aPath,
    'file of mode 0600 that `calcfs fleet key` makes, the same on every node',
  ),
  xattrs: switchedOff('drive', 'answer extended attributes; they cost `ls -l` and `cp -a` two calls a file'),
  metrics: setting(
    'drive',
    [loopbackPort, '<address>'],
    'show metrics and health there over HTTP, for example 127.0.0.1:9464; loopback addresses only',
  ),
  notify: switchedOff(
    'drive',
    'tell the desktop (notify-send) when an edit waits to be saved or the sign-in has ended',
  ),
  allowOther: switchedOff('drive', 'let other users of this machine read the drive'),
  kernel: preset(
    'drive',
    [z.enum(['session', 'libfuse']), '<way>'],
    'session',
    'how the kernel is spoken to: by a session of calcfs itself (Linux), or through libfuse 2',
  ),

  logLevel: preset(
    'log',
    [word(['debug', 'info', 'warn', 'error']), '<level>'],
    'info',
    'debug, info, warn or error',
  ),
  logFile: setting(
    'log',
    aPath,
    'write the log there instead of to the terminal; 10 MB, and as much in FILE.1',
  ),
} as const

export type SettingName = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly SettingName[]

/** Those that the help of `calcfs mount` lists; `--help --all` lists the others, too. */
export const everydaySettings: readonly SettingName[] = [
  ...(['user', 'passwordFile', 'caFile'] as const),
  ...(['access', 'maxDeletes', 'root', 'ttlListing', 'cacheDir', 'cacheSize', 'allowOther'] as const),
  ...(['logLevel', 'logFile'] as const),
]

/** The words that a setting may be; undefined for one that is free. */
export function wordsOf(name: SettingName): readonly string[] | undefined {
  const { schema } = settings[name]
  return schema instanceof z.ZodEnum ? schema.options.map(String) : undefined
}

/** ttlListing → `ttl-listing`: the flag without its dashes, and the key in the file. */
export const flagName = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** ttlListing → `CALCFS_TTL_LISTING`. */
export const variableName = (name: string): string =>
  `CALCFS_${flagName(name).replaceAll('-', '_').toUpperCase()}`
