// What completes a value, by the name that its argument or flag has in the usage: `<drive>` is a mount point.

/** `files` and `directories` are the shell's own; `nothing` is free text. */
export type ValueKind = 'files' | 'directories' | 'drives' | 'drafts' | 'profiles' | 'help' | 'nothing'

/** A name that is not here is completed by nothing; a test asks for each to be here. */
export const valueKinds: Readonly<Record<string, ValueKind>> = {
  path: 'files',
  file: 'files',
  'path or id': 'files',
  'path@n': 'files',
  'path@m': 'files',
  directory: 'directories',
  drive: 'drives',
  draft: 'drafts',
  profile: 'profiles',
  topic: 'help',

  address: 'nothing',
  calculation: 'nothing',
  command: 'nothing',
  duration: 'nothing',
  glob: 'nothing',
  id: 'nothing',
  levels: 'nothing',
  milliseconds: 'nothing',
  name: 'nothing',
  number: 'nothing',
  seconds: 'nothing',
  size: 'nothing',
  text: 'nothing',
  types: 'nothing',
  url: 'nothing',
  word: 'nothing',
}
