// Which folder may import which: a folder imports only folders that stand above it here. test/house.test.ts holds it.

import { benchFolders } from './bench-folders.js'

/** Folders of src by their name below it (`src` is its top), and those of bench; each with the folders that it may import. */
export const folders: Readonly<Record<string, readonly string[]>> = {
  // the machine's own facts: codes of system errors, clocks, directories, kinds of file systems, processes
  system: [],

  // words that every layer uses: failures, a value or its promise, the callers of a shared answer
  src: ['system'],

  // what is counted of one mount: calls of the kernel, requests, use of the caches
  activity: ['system'],

  // settings: their table, their files, how values are written, where things are kept
  config: ['system'],

  // how long lists and texts are held small
  'record/compact': [],

  // JSON without loss: parsed, held, compared, printed
  'record/json': ['src', 'record/compact'],

  // what a record's texts mean beyond JSON: formulas, rows, cells of a table
  record: [],

  // the interface to the platform (remote.ts), its secrets and its clock
  remote: ['system', 'src', 'activity', 'record/compact', 'record/json'],

  // one connection: where to, what is sent and received, what its errors mean
  'remote/connection': ['system', 'src', 'record/compact', 'remote'],

  // the way of a request: limiter, rate, breaker, retries, late answers
  'remote/client': ['src', 'remote', 'remote/connection'],

  // what an HTTP answer means
  'remote/http': ['src', 'record/json', 'remote', 'remote/connection', 'remote/client'],

  // credentials become a token
  'remote/session': ['src', 'remote', 'remote/client', 'remote/http'],

  // the platform's field names and forms
  'remote/wire': ['src', 'record/compact', 'record/json', 'record', 'remote'],

  // the operations, each one endpoint
  'remote/rest': ['src', 'record/json', 'remote', 'remote/http', 'remote/wire'],

  // what is remembered over restarts, in SQLite
  'cache/ledger': ['src', 'system', 'remote'],

  // Remotes in front of a Remote: health, identity, confirmed deletions; deadlines
  cache: ['src', 'record/json', 'remote', 'cache/ledger'],

  // projects, calculations, reports, users, each with its lifetime
  'cache/metadata': ['src', 'activity', 'record/compact', 'record/json', 'remote', 'cache/ledger', 'cache'],

  // which version and length a content has, and what a contradiction means
  'cache/content/versions': ['src', 'remote', 'cache/ledger'],

  // kept files on disk
  'cache/content/store': ['system', 'remote', 'cache/ledger'],

  // one content on its way
  'cache/content/download': [
    'src',
    'remote',
    'cache/ledger',
    'cache/content/versions',
    'cache/content/store',
  ],

  // the interface to contents, and their maintenance
  'cache/content': [
    'src',
    'activity',
    'remote',
    'cache/ledger',
    'cache/content/versions',
    'cache/content/store',
    'cache/content/download',
  ],

  // what many mounts share through a Valkey or Redis: answers, contents, news; passed by where it is slow or gone
  fleet: ['system', 'src', 'config', 'remote', 'cache/metadata', 'cache/content/store'],

  // drafts and texts on disk, safe at any crash
  'edit/journal': ['system', 'src', 'remote'],

  // from a text to the service, for every kind of record
  'edit/save': ['src', 'record/json', 'remote', 'edit/journal'],

  // what each kind of record means when it is saved
  'edit/kinds': ['src', 'record/json', 'record', 'remote', 'edit/journal', 'edit/save'],

  // what a path can be, and its name; pure
  'drive/nodes': ['src', 'record/compact', 'remote'],

  // what a mount and a command line see of the drive: verbs, attributes, errno names, control
  'drive/interface': ['src', 'remote', 'drive/nodes'],

  // names that are remembered: made here, freed, known reports, given roots
  'drive/names': ['src', 'record/json', 'remote', 'cache/ledger', 'cache/metadata', 'drive/nodes'],

  // path to node
  'drive/tree': ['src', 'record/compact', 'remote', 'cache', 'cache/metadata', 'drive/nodes', 'drive/names'],

  // files whose saves reach the service, and files that stay here
  'drive/records': [
    'system',
    'src',
    'record/compact',
    'record/json',
    'remote',
    'cache',
    'cache/metadata',
    'edit/journal',
    'edit/save',
    'edit/kinds',
    'drive/nodes',
    'drive/interface',
    'drive/names',
    'drive/tree',
  ],

  // rm and rmdir: what one burst removes, and what is sent of it
  'drive/removal': [
    'src',
    'record/json',
    'remote',
    'cache/ledger',
    'cache',
    'cache/metadata',
    'edit/save',
    'drive/nodes',
    'drive/names',
    'drive/tree',
    'drive/records',
  ],

  // what is asked ahead of a user
  'drive/prefetch': [
    'src',
    'record/compact',
    'remote',
    'cache/metadata',
    'cache/content',
    'drive/nodes',
    'drive/tree',
  ],

  // trees and whole files for commands, over the verbs
  'drive/reader': ['src', 'remote', 'drive/nodes', 'drive/interface'],
  // subtrees that are kept whole on this disk
  'drive/pins': [
    'src',
    'remote',
    'cache/ledger',
    'cache',
    'cache/metadata',
    'cache/content',
    'drive/nodes',
    'drive/tree',
  ],

  // the verbs over all of that
  drive: [
    'src',
    'record/compact',
    'record/json',
    'record',
    'remote',
    'cache/ledger',
    'cache',
    'cache/metadata',
    'cache/content/versions',
    'cache/content',
    'edit/journal',
    'edit/save',
    'edit/kinds',
    'drive/nodes',
    'drive/interface',
    'drive/names',
    'drive/tree',
    'drive/records',
    'drive/removal',
    'drive/prefetch',
  ],

  // what the command line may ask of a running drive
  'drive/control': [
    'src',
    'record/json',
    'record',
    'remote',
    'cache/ledger',
    'cache',
    'cache/metadata',
    'cache/content',
    'edit/journal',
    'edit/save',
    'edit/kinds',
    'drive/nodes',
    'drive/interface',
    'drive/names',
    'drive/tree',
    'drive/records',
    'drive/removal',
    'drive/pins',
    'drive',
  ],

  // what every command shares: flags, log, questions, exit codes
  terminal: ['system', 'src', 'config'],

  // what goes on in a mount, shown to others: metrics, health, the picture of `calcfs top`
  metrics: ['system', 'src', 'activity', 'drive/interface', 'drive/control', 'terminal'],

  // the kernel's edge
  mount: ['system', 'src', 'activity', 'remote', 'drive/interface'],

  // the bundled service's database, lock and options
  'service/store': [],

  // its users, rights and tokens
  'service/people': ['service/store'],

  // bytes and geometries
  'service/content': ['service/store'],

  // its records, each kind with its rules
  'service/records': ['service/store', 'service/people', 'service/content'],

  // its HTTP side
  'service/routes': ['service/store', 'service/people', 'service/content', 'service/records'],

  // the bundled service as one thing, its seed and its sample
  service: ['service/store', 'service/people', 'service/content', 'service/records', 'service/routes'],

  // whose drive it is: the user of a service, the directory and the token that are kept
  'app/account': ['system', 'src', 'config', 'remote', 'remote/session', 'edit/journal', 'terminal'],

  // the composition root: the whole line from the kernel to the network
  app: [
    'system',
    'src',
    'activity',
    'config',
    'remote',
    'remote/connection',
    'remote/client',
    'remote/http',
    'remote/session',
    'remote/wire',
    'remote/rest',
    'cache/ledger',
    'cache',
    'cache/metadata',
    'cache/content',
    'fleet',
    'edit/journal',
    'drive/nodes',
    'drive/interface',
    'drive/names',
    'drive/tree',
    'drive/records',
    'drive/removal',
    'drive/prefetch',
    'drive/reader',
    'drive/pins',
    'drive',
    'drive/control',
    'terminal',
    'app/account',
    'metrics',
  ],

  // trees and files of a daemon, as long answers
  'cli/stream': ['src', 'remote', 'drive/interface'],
  // talking to the daemon of a drive
  'cli/control': [
    'cli/stream',
    'system',
    'src',
    'config',
    'remote',
    'remote/rest',
    'drive/interface',
    'metrics',
    'mount',
    'terminal',
    'app',
    'app/account',
  ],

  // the checks of `calcfs doctor`
  'cli/doctor': ['system', 'src', 'config', 'remote', 'remote/connection', 'fleet', 'terminal', 'app'],
  // the tour of `calcfs demo`
  'cli/demo': [],
  // one drive from its settings to its end, and what only a running daemon needs: detached, notifying systemd, giving memory back
  'cli/mount': [
    'system',
    'src',
    'activity',
    'config',
    'remote',
    'remote/rest',
    'drive/interface',
    'metrics',
    'mount',
    'terminal',
    'app',
    'app/account',
    'cli/control',
  ],

  // a sign-in made, listed and forgotten
  'cli/sign-in': [
    'system',
    'src',
    'config',
    'remote',
    'remote/session',
    'edit/journal',
    'mount',
    'terminal',
    'app/account',
    'app',
    'cli/control',
  ],

  // the form of every --help, and its topics
  'cli/help': ['config', 'terminal'],

  // completion in three shells, from the commands and their flags
  'cli/completion': ['config', 'mount', 'terminal', 'cli/control', 'cli/help'],

  // manual pages and docs/settings.md, from the same
  'cli/manual': ['config', 'terminal', 'cli/help', 'cli/mount'],

  // what goes on: top, mounts, log, metrics
  'cli/watch': ['system', 'config', 'drive/interface', 'mount', 'terminal', 'cli/control'],

  // one file a command
  'cli/commands': [
    'system',
    'src',
    'config',
    'remote',
    'edit/journal',
    'drive/nodes',
    'drive/interface',
    'fleet',
    'mount',
    'service/store',
    'service',
    'terminal',
    'app',
    'cli/control',
    'cli/watch',
    'cli/doctor',
    'cli/demo',
    'cli/mount',
    'cli/sign-in',
  ],

  // ls, cat, find and get: the drive's paths without FUSE, and the local side of a copy; what is kept of them
  'cli/files': ['system', 'src', 'drive/interface', 'mount', 'terminal', 'cli/control'],

  // the command table
  cli: [
    'cli/watch',
    'config',
    'terminal',
    'cli/help',
    'cli/doctor',
    'cli/mount',
    'cli/completion',
    'cli/commands',
    'cli/files',
  ],

  ...benchFolders,
}
