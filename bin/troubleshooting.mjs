// docs/troubleshooting.md: each errno with what it means on a drive and the advice of `calcfs why`, the exit codes, and what has no errno.
import { adviceFor, adviceForText } from '../dist/src/advice.js'
import { errnoOf } from '../dist/src/failure.js'
import { exitCodes, exitMeanings } from '../dist/src/terminal/exit.js'

/** The meaning of each kind of failure; kinds that their errno explains have none. */
const meanings = {
  unauthenticated: 'the sign-in has ended',
  forbidden: 'the service does not allow it to you',
  busy: 'the service is overloaded, or the thing is locked there',
  exists: 'the name is taken, perhaps by another client a moment ago: choose another one',
  'too-large': 'a record over 16 MiB, or a text over 64 MiB',
  unreachable: 'the service is not reached, or is known to be away',
  invalid: 'the service took the saved text for wrong',
  'not-json': 'the saved text is no JSON',
  refused: 'the saved text is no record that the service could take',
  broken: 'the service failed, or its answer was cut, malformed or not what was stored',
  'refuses-all': 'something in front of the service refuses everything',
  'outcome-unknown': 'the answer to a new report was lost: it may have been made',
  internal: 'a fault of calcfs; `calcfs log` has it',
  absent: 'there is no such thing; what others made a moment ago shows after `calcfs refresh`',
  'service-full': 'the platform is full',
  'no-space': 'the local disk is full',
  'not-empty': 'the directory is not empty',
  unsupported: 'this instance lacks the operation, as `calcfs status` says',
  'not-permitted': 'nothing of this kind can be done here (DENY-1)',
  'no-upload': 'the service takes no files',
  untrusted: 'the certificate is not trusted',
  'read-only': 'published, shared for reading, or mounted with `--access read`',
  'disk-read-only': 'the state directory cannot be written',
  conflict: 'another client changed the same field; both texts are kept',
  replaced: 'the file has another version by now',
  'another-thing': 'the number stands for another thing by now; nothing was sent',
  'in-doubt': 'a list that was known is refused: nothing counts as gone',
  timeout: 'no answer within the deadline',
}

/** Kinds that a text meets: what is done about it is advised by its name. */
const ofTexts = [
  'invalid',
  'not-json',
  'refused',
  'too-large',
  'conflict',
  'another-thing',
  'outcome-unknown',
]

/** Sentences of strerror(3), as programs show them. */
const shown = {
  EACCES: 'Permission denied',
  EBUSY: 'Device or resource busy',
  EEXIST: 'File exists',
  EFBIG: 'File too large',
  EHOSTUNREACH: 'No route to host',
  EINVAL: 'Invalid argument',
  EIO: 'Input/output error',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTEMPTY: 'Directory not empty',
  EOPNOTSUPP: 'Operation not supported',
  EPERM: 'Operation not permitted',
  EPROTO: 'Protocol error',
  EROFS: 'Read-only file system',
  ESTALE: 'Stale file handle',
  ETIMEDOUT: 'Connection timed out',
}

const symptoms = {
  '`calcfs: command not found`':
    '`export PATH=~/.local/bin:$PATH`, where it was installed with `--prefix ~/.local`.',
  '`Software caused connection abort`, `Transport endpoint is not connected`':
    'The daemon is gone: `calcfs mount` again; edits are kept.',
  'mount fails with 5': '`sudo apt install fuse3`; `calcfs doctor URL` says what else is missing.',
  '`projects/` is empty but for `README.txt`':
    'The server cannot list your projects: `--root ID`, or `cd projects/NAME`.',
  'another person’s change does not show': 'It does after 30 s, or at once after `touch DIR`.',
  '`rm -r` brought things back':
    'More than `--max-deletes` in one go deletes nothing: `calcfs delete PATH…`.',
  'a script saved, and nothing arrived':
    '`echo … >> FILE`, `sync` and `open(…).write(…)` hide the error of close(2): ask `calcfs status` (7).',
}

/** The kernel's own refusal, which stands for no failure of the drive. */
const byMode =
  '|  | its mode forbids it (`ls -l`) | Files of calculations, and what is published or shared for reading, never change: take a copy. |'

const names = Object.keys(shown)
const rows = names.flatMap(name => {
  const kinds = Object.keys(meanings).filter(kind => errnoOf(kind) === name)
  const own = kinds.map((kind, at) => {
    const first = at === 0 ? `\`${name}\` ${shown[name]}` : ''
    const advice = ofTexts.includes(kind) ? adviceForText(kind, 'NAME') : (adviceFor({ kind }) ?? '')
    return `| ${first} | ${meanings[kind]} | ${advice} |`
  })
  return name === 'EACCES' ? [...own, byMode] : own
})
const unnamed = Object.keys(meanings).filter(kind => !names.includes(errnoOf(kind)))
if (unnamed.length > 0) throw new Error(`no words for the errno of ${unnamed.join(', ')}`)

/** The page. */
export const troubleshooting = [
  '# What to do when something fails',
  '`calcfs why PATH` says which line of this page it was, and what the service said. `calcfs status` says how the drive is.',
  '| error | what happened | what to do |\n|---|---|---|',
]
  .join('\n\n')
  .concat(
    `\n${rows.join('\n')}\n\n`,
    '## Without an errno\n\n| you see | what to do |\n|---|---|\n',
    Object.entries(symptoms)
      .map(([see, advice]) => `| ${see} | ${advice} |\n`)
      .join(''),
    '\n## Exit codes\n\n| code | meaning |\n|---|---|\n',
    Object.entries(exitMeanings)
      .map(([name, meaning]) => `| ${exitCodes[name]} | ${meaning} |\n`)
      .join(''),
  )
