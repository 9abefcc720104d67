// Well-known names, which programs give or try by themselves: looked up everywhere, made as directories, or an editor's own files beside a record.
import { Failure } from '../../failure.js'
import { fixedNames, idOfRecordFile } from '../../layout.js'
import { type Name, pathOf } from './place.js'

/** Of file managers, desktops, shells and version control. */
const probes = new Set(
  `
  .git .hg .svn .bzr .hidden .directory .DS_Store .localized .metadata_never_index .xdg-volume-info
  .nomedia .thumbnails .comments .editorconfig .envrc .trackerignore .fseventsd .nobackup
  .stfolder autorun.inf AUTORUN.INF Autorun.inf autorun.sh desktop.ini Desktop.ini Thumbs.db
  thumbs.db folder.jpg .VolumeIcon.icns .autorun autorun BDMV VIDEO_TS HEAD CVS RCS
  `
    .trim()
    .split(/\s+/),
)
const probeForm = /^\.(Trash|_|Spotlight-|TemporaryItems|ql_disablethumbnails|com\.apple\.|apdisk)/

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

/** True if a name is one that programs try in every directory by themselves, without a user's wish. */
export function isProbe(name: string): boolean {
  return probes.has(name) || probeForm.test(name)
}

const editorForms = [
  /^sed[A-Za-z0-9]{6}$/, // GNU sed -i
  /^4913$/, // vim tries whether it may create files
  /^\d{4,5}$/, // vim's further tries: 4913 + 123 …
  /^#.*#$/s, // emacs auto-save
  /^\.#/, // emacs lock
  /^\.goutputstream-/, // GLib's atomic save
  /^\.fuse_hidden[0-9a-f]+$/, // libfuse, of a file that is unlinked or replaced while it is open
  /^XX[A-Za-z0-9]{6,8}$/, // perl -i
  /^tmp[A-Za-z0-9_]{6,10}$/, // python's tempfile
]

/** emacs locks a file with a link of this name, which names the user and process that has it open. */
export const isLockName = (name: string): boolean => name.startsWith('.#')

/** In the folder of one record: names that hold the record's name, and those an editor makes by itself. */
export function isScratchBeside(record: string, name: string): boolean {
  if (name === record) return false
  return name.includes(record) || editorForms.some(form => form.test(name))
}

/** In a folder of records (`reports/`, `.shares/`): every name that is no record, no `new*.json` and none of ours. */
export function isScratchAmong(name: string): boolean {
  return idOfRecordFile(name) === undefined && !isNewName(name) && !ourNames.has(name)
}

const ourNames: ReadonlySet<string> = new Set([
  fixedNames.reportIndex,
  fixedNames.reportNames,
  fixedNames.readme,
])

/** Endings of what editors keep beside a file, and take away or write over by themselves. */
const editorEndings = /~|\.(?:sw[a-z]|swpx|tmp|bak|lock|part)$/

/** A file that a user has put among records, as far as its name tells; an editor's own is none. */
export const isUsersOwn = (name: string): boolean =>
  !name.startsWith('.') && !editorEndings.test(name) && !editorForms.some(form => form.test(name))

/** `new.json`, `new-dyes.json`: a save under such a name makes a record. */
export const isNewName = (name: string): boolean => /^new.*\.json$/s.test(name)
