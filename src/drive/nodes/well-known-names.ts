// Well-known names: those that programs look up everywhere, answered without a request, and those of directories that programs make for themselves.
import { Failure } from '../../failure.js'
import { type Name, pathOf } from './place.js'

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

/**
 * Only programs give a directory such a name, for what they keep themselves (`.snakemake`, `__pycache__`), or try it everywhere.
 * @throws Failure 'not-permitted'
 */
export function refuseProgramsName(wanted: Name): void {
  const { name } = wanted
  if (name.startsWith('.') || programsOwn.has(name) || isProbe(name))
    throw new Failure('not-permitted', `${pathOf(wanted)}: ${notForPrograms}`)
}

const notForPrograms =
  'programs make such a directory for files of their own, and a directory here is a project or a calculation on the service; let the program keep it on a local disk'

/** Whether a name is one that programs try in every directory by themselves, without a user's wish. */
export function isProbe(name: string): boolean {
  // Each form begins with a dot, which hardly a name does.
  return probes.has(name) || (name.startsWith('.') && probeForms.some(form => form.test(name)))
}
