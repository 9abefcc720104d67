// Links of the drive, followed as the kernel follows them: on the way to a path, and at its end.
import { Failure } from '../../failure.js'
import { parentOf } from '../../layout.js'
import { fileTypes } from '../interface/attributes.js'
import type { PathDrive } from '../interface/path-drive.js'
import { namesAlong } from '../nodes/name.js'

/** More links on one path are a loop, as for the kernel (ELOOP). */
const linksAtMost = 40

const typeBits = 0o170000

export const isLinkMode = (mode: number): boolean => (mode & typeBits) === fileTypes.link
export const isDirectoryMode = (mode: number): boolean => (mode & typeBits) === fileTypes.directory

/**
 * The path without links, `.` and `..`; the root is `/`.
 * @throws Failure of the first component that is not there, 'invalid' for a loop of links
 */
export async function withoutLinks(
  verbs: Pick<PathDrive, 'getattr' | 'readlink'>,
  path: string,
): Promise<string> {
  const ahead = [...namesAlong(path)]
  let real = ''
  let links = 0
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      real = parentOf(real)
      continue
    }
    const here = `${real}/${name}`
    const { mode } = await verbs.getattr(here)
    if (!isLinkMode(mode)) {
      real = here
      continue
    }
    links += 1
    if (links > linksAtMost) throw new Failure('invalid', `${path}: its links lead in a circle`)
    ahead.unshift(...namesAlong(await verbs.readlink(here)))
  }
  return real === '' ? '/' : real
}
