// Opcode table: which request each opcode is, and whether its wait may be interrupted.
import type { Name } from '../drive/nodes/place.js'
import { chain, type MaybePromise } from '../maybe-promise.js'
import { type Answer, nothing, Remembered, type RequestParts } from './entries.js'
import { Listings } from './listings.js'
import { type Header, handleIn, opcodes, symlinkIn } from './protocol.js'
import { Requests } from './requests.js'

/** A request that is answered: how logs call it, and whether its wait may be interrupted, because it changes nothing. */
export interface Handled {
  readonly verb: string
  readonly answer: (message: Buffer, header: Header, name: string) => MaybePromise<Answer>
  readonly mayEnd: boolean
}

/** The requests of one mount, by opcode. One that is missing is answered ENOSYS, and the kernel makes it never again. */
export function requestsOf(given: Omit<RequestParts, 'remembered'>): ReadonlyMap<number, Handled> {
  const { drive } = given
  const remembered = new Remembered(given)
  const parts = { ...given, remembered }
  const requests = new Requests(parts)
  const listings = new Listings(parts)
  const asking = (verb: string, answer: Handled['answer']): Handled => ({ verb, answer, mayEnd: true })
  const changing = (verb: string, answer: Handled['answer']): Handled => ({ verb, answer, mayEnd: false })
  const altering = (verb: string, answer: Handled['answer']): Handled =>
    changing(verb, (message, header, name) => remembered.during(() => answer(message, header, name)))
  const making = (verb: string, make: (made: Name, message: Buffer) => Promise<void>): Handled =>
    altering(verb, (message, header, name) => requests.make(header, name, made => make(made, message)))
  /** It is refused, whatever is there. */
  const setxattr: Handled['answer'] = (_, { node }) => chain(drive.setxattr(given.inodes.get(node)), nothing)
  const all: [number, Handled][] = [
    [opcodes.lookup, asking('lookup', (_, header, name) => requests.lookup(header, name))],
    [opcodes.getattr, asking('getattr', (_, header) => requests.getattr(header))],
    [opcodes.setattr, altering('setattr', (message, header) => requests.setattr(message, header))],
    [opcodes.readlink, asking('readlink', (_, header) => requests.readlink(header))],
    [opcodes.symlink, making('symlink', (made, message) => drive.symlink(symlinkIn(message).target, made))],
    [opcodes.mknod, making('mknod', made => drive.mknod(made))],
    [opcodes.mkdir, making('mkdir', made => drive.mkdir(made))],
    [opcodes.unlink, altering('unlink', (_, header, name) => requests.remove(header, name, drive.unlink))],
    [opcodes.rmdir, altering('rmdir', (_, header, name) => requests.remove(header, name, drive.rmdir))],
    [opcodes.rename, altering('rename', (message, header) => requests.rename(message, header))],
    [opcodes.link, making('link', made => drive.link(made))],
    [opcodes.open, asking('open', (message, header) => requests.open(message, header))],
    [opcodes.create, altering('create', (_, header, name) => requests.create(header, name))],
    [opcodes.read, asking('read', message => requests.read(message))],
    [opcodes.write, changing('write', (message, header) => requests.write(message, header))],
    [opcodes.flush, changing('flush', (message, header) => requests.flush(message, header))],
    [opcodes.fsync, changing('fsync', message => chain(drive.fsync(handleIn(message)), nothing))],
    [opcodes.fsyncdir, changing('fsyncdir', nothing)],
    [opcodes.release, changing('release', message => chain(requests.close(handleIn(message)), nothing))],
    [opcodes.statfs, asking('statfs', () => requests.statfs())],
    [opcodes.opendir, asking('opendir', (_, header) => listings.open(header))],
    [opcodes.readdir, asking('readdir', (message, header) => listings.read(message, header))],
    [opcodes.readdirplus, asking('readdir', (message, header) => listings.read(message, header))],
    [opcodes.releasedir, changing('releasedir', message => listings.release(message))],
  ]
  if (parts.xattrs)
    all.push(
      [opcodes.getxattr, asking('getxattr', (message, header) => requests.getxattr(message, header))],
      [opcodes.listxattr, asking('listxattr', (message, header) => requests.listxattr(message, header))],
      [opcodes.setxattr, altering('setxattr', setxattr)],
      [opcodes.removexattr, altering('removexattr', setxattr)],
    )
  return new Map(all)
}
