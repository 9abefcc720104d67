// Local names: names beside a record that are an editor's own files; they never reach the service.
import { fixedNames, idOfRecordFile } from '../../layout.js'

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

const ourNames: ReadonlySet<string> = new Set([fixedNames.reportIndex, fixedNames.reportNames])

/** Endings of what editors keep beside a file, and take away or write over by themselves. */
const editorEndings = /~|\.(?:sw[a-z]|swpx|tmp|bak|lock|part)$/

/** A file that a user has put among records, as far as its name tells; an editor's own is none. */
export const isUsersOwn = (name: string): boolean =>
  !name.startsWith('.') && !editorEndings.test(name) && !editorForms.some(form => form.test(name))

/** `new.json`, `new-dyes.json`: a save under such a name makes a record. */
export const isNewName = (name: string): boolean => /^new.*\.json$/s.test(name)
