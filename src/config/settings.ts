// The one table of settings: from it come the flags, the CALCFS_ variables, the keys of the file, their types and their help.
import * as z from 'zod'
import { choice, count, duration, loopbackPort, place, size, sizeFrom, text, texts, word } from './units.js'

/** A wrong or missing setting: one sentence that says where and what to write instead. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting'
}

/** What the settings of a group are about, in the order in which they are listed: all commands that send requests take those of the service. */
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

function setting<Schema extends z.ZodType>(
  group: Group,
  [schema, value]: readonly [Schema, string | undefined],
  help: string,
): Setting<z.ZodOptional<Schema>> {
  return { group, schema: schema.optional(), value, help, initial: undefined, repeatable: false }
}

function preset<Schema extends z.ZodType>(
  initial: string,
  { group, schema, value, help }: Setting<z.ZodOptional<Schema>>,
): Setting<Schema> {
  return { group, schema: schema.unwrap(), value, help, initial, repeatable: false }
}

const switchedOff = (group: Group, help: string) => preset('no', setting(group, [choice, undefined], help))

const aDuration = [duration, '<duration>'] as const
const aSize = [size, '<size>'] as const
const aNumber = [count, '<number>'] as const
/** A smaller one would be full of its first lines, and the cause of a trouble gone with them. */
const aLogSize = [sizeFrom(64 << 10, '64K'), '<size>'] as const
const aCacheSize = [sizeFrom(1 << 20, '1M'), '<size>'] as const
const aPath = [place, '<path>'] as const
const aText = [text, '<text>'] as const

export const settings = {
  url: setting('service', [text, '<url>'], 'address of the service, https://host is enough'),
  user: setting('service', aText, 'user name on the platform'),
  passwordCommand: setting(
    'service',
    [text, '<command>'],
    'command whose first line of output is the password',
  ),
  passwordFile: setting('service', aPath, 'file of mode 0600 whose first line is the password'),
  keyring: switchedOff(
    'service',
    'keep the token of `calcfs login` in the keyring of the desktop (secret-tool), not in a file',
  ),
  caFile: setting('service', aPath, 'PEM file with the authority that signed the certificate of the service'),
  insecureHttp: switchedOff(
    'service',
    'allow http:// to other machines: password and data can be read on the way',
  ),
  deadlineMetadata: preset(
    '10s',
    setting('service', aDuration, 'longest wait for a listing, a record or a size'),
  ),
  deadlineRead: preset('20s', setting('service', aDuration, 'longest wait for the next bytes of a file')),
  deadlineSave: preset('20s', setting('service', aDuration, 'longest wait for a save')),
  connections: preset('64', setting('service', aNumber, 'connections to the service at most')),
  maxRequests: setting('service', aNumber, 'requests a second at most'),
  bwlimit: setting('service', aSize, 'bytes a second at most'),
  fleet: setting(
    'drive',
    [text, '<url>'],
    'Valkey or Redis that many mounts share, valkey://host:6379; the service is asked once for all',
  ),
  fleetKeyFile: setting(
    'drive',
    aPath,
    'file of mode 0600 that `calcfs fleet key` makes, the same on every node',
  ),
  fleetCaFile: setting(
    'drive',
    aPath,
    'PEM file with the authority that signed the certificate of the fleet',
  ),
  fleetPasswordFile: setting(
    'drive',
    aPath,
    'file of mode 0600 whose first line is the password of the fleet',
  ),
  stateDir: setting('service', aPath, 'where drafts, history and the token are kept'),

  logLevel: preset(
    'info',
    setting('log', [word(['debug', 'info', 'warn', 'error']), '<level>'], 'debug, info, warn or error'),
  ),
  logFile: setting('log', aPath, 'write the log there instead of to the terminal'),
  logSize: preset(
    '10M',
    setting(
      'log',
      aLogSize,
      'bytes of a log file, 64K at least; beyond it the file becomes FILE.1, and a new one is begun',
    ),
  ),

  access: preset(
    'edit',
    setting(
      'drive',
      [word(['read', 'edit', 'manage']), '<what>'],
      'read; edit: records change and are made; manage: things are also deleted',
    ),
  ),
  maxDeletes: preset(
    '3',
    setting(
      'drive',
      aNumber,
      'things that may be deleted through files at once, with --access manage; calcfs delete is not bound by it',
    ),
  ),
  root: {
    group: 'drive',
    schema: texts.prefault([]),
    value: '<path or id>',
    help: 'a project to show under projects/; may be given again',
    initial: undefined,
    repeatable: true,
  },
  projectDescription: preset(
    'Made as a directory on {date}',
    setting(
      'drive',
      aText,
      'description of a project that mkdir makes; {name}, {user} and {date} stand for its own',
    ),
  ),
  ttlListing: preset(
    '30s',
    setting('drive', aDuration, 'how long a listing is used before it is fetched again'),
  ),
  ttlRecord: preset(
    '10s',
    setting('drive', aDuration, 'how long a record is used before it is fetched again'),
  ),
  ttlAbsent: preset('5s', setting('drive', aDuration, 'how long a missing name is cached')),
  staleLimit: preset('30d', setting('drive', aDuration, 'use cached answers up to this age while offline')),
  cacheDir: setting('drive', aPath, 'where contents that were read are kept'),
  cacheSize: preset('10G', setting('drive', aCacheSize, 'how much of the disk they may take, 1M at least')),
  pinInterval: preset(
    '10m',
    setting('drive', aDuration, 'how often the listings of pinned projects are fetched again'),
  ),
  maxEntries: preset('200000', setting('drive', aNumber, 'names held in memory at most')),
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
  noexec: switchedOff('drive', 'let no program be started from the drive'),
  kernel: preset(
    'session',
    setting(
      'drive',
      [z.enum(['session', 'libfuse']), '<way>'],
      'how the kernel is spoken to: by a session of calcfs itself (Linux), or through libfuse 2',
    ),
  ),
} as const

export type SettingName = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly SettingName[]

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
