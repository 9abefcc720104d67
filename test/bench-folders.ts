// Which folder of bench may import which: a part of the table in test/folders.ts.

/** Folders of bench; each with the folders that it may import. */
export const benchFolders: Readonly<Record<string, readonly string[]>> = {
  // generated trees
  'bench/trees': [],

  // the servers that show them
  'bench/origin': ['bench/trees'],

  // raw requests, without a mount
  'bench/limits': [],

  // processes of the bench, and what they cost
  'bench/processes': ['bench/trees', 'bench/origin', 'bench/limits'],

  // the mounts that are compared
  'bench/peers': ['system', 'mount', 'bench/trees', 'bench/processes'],

  // what is measured, and how
  'bench/run': [
    'remote',
    'cache/content/store',
    'bench/trees',
    'bench/origin',
    'bench/limits',
    'bench/processes',
    'bench/peers',
  ],

  // which of it, in which order, in how much time
  'bench/plan': ['bench/trees', 'bench/run'],

  // tables, targets, plots
  'bench/report': ['bench/trees', 'bench/run'],

  // what the hot paths cost inside
  'bench/paths': ['activity', 'app', 'config', 'mount', 'remote', 'remote/rest', 'system'],

  // many mounts over one Redis
  'bench/fleet': [
    'remote',
    'fleet',
    'drive/interface',
    'service',
    'app',
    'bench/trees',
    'bench/origin',
    'bench/processes',
    'bench/peers',
    'bench/run',
    'bench/plan',
    'bench/report',
    'bench/paths',
  ],

  // the command
  bench: ['bench/fleet', 'bench/processes', 'bench/peers', 'bench/run', 'bench/plan', 'bench/report'],
}
