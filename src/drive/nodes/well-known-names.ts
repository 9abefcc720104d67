// Well-known names: those that programs look up everywhere, answered without a request, and those of directories that programs make for themselves.

const probes = new Set([
  '.git',
  '.hg',
  '.svn',
  '.bzr',
  '.hidden',
  '.directory',
  '.DS_Store',
  '.localized',
  '.metadata_never_index',
  '.xdg-volume-info',
  '.nomedia',
  '.thumbnails',
  '.comments',
  '.editorconfig',
  '.envrc',
  '.trackerignore',
  '.fseventsd',
  '.nobackup',
  '.stfolder',
  'autorun.inf',
  'AUTORUN.INF',
  'Autorun.inf',
  'autorun.sh',
  'desktop.ini',
  'Desktop.ini',
  'Thumbs.db',
  'thumbs.db',
  'folder.jpg',
  '.VolumeIcon.icns',
  '.autorun',
  'autorun',
  'BDMV',
  'VIDEO_TS',
  'HEAD',
  'CVS',
  'RCS',
])
const probeForms = [
  /^\.Trash/,
  /^\._/,
  /^\.Spotlight-/,
  /^\.TemporaryItems/,
  /^\.ql_disablethumbnails/,
  /^\.com\.apple\./,
  /^\.apdisk/,
]

const programsOwn = new Set([
  '__pycache__',
  '__pypackages__',
  '__MACOSX',
  'node_modules',
  'lost+found',
  '$RECYCLE.BIN',
  'System Volume Information',
  '@eaDir',
  '@Recycle',
  '@Recently-Snapshot',
  '#recycle',
  '#snapshot',
])

/** Whether only programs make a directory of this name, for what they keep themselves: `.snakemake`, `__pycache__`. */
export const isProgramsOwn = (name: string): boolean => name.startsWith('.') || programsOwn.has(name)

/** Whether a name is one that programs try in every directory by themselves, without a user's wish. */
export function isProbe(name: string): boolean {
  // Each form begins with a dot, which hardly a name does.
  return probes.has(name) || (name.startsWith('.') && probeForms.some(form => form.test(name)))
}
