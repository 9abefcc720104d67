// The kernel's requests as the session reads them, each as a promise: one request, or all that a program's read or save takes.
import { Activity } from '../../src/activity/activity.js'
import type { AssembledDrive } from '../../src/app/assemble.js'
import { opcodes } from '../../src/kernel/protocol.js'
import { Session } from '../../src/kernel/session.js'
import { openPendingCalls } from '../../src/mount/changes-in-progress.js'
import { systemClock } from '../../src/remote/clock.js'
import { halves, listedIn, message, numberAt, setattr, text, words } from '../../test/testbed/kernel/bytes.js'

/** The root's node id in FUSE. */
export const rootNode = 1
const pieceBytes = 128 * 1024
const [readOnly, writeOnly] = [0, 1]
const wholeListing = 1 << 20
/** Seconds for which a kernel keeps names: a quarter of a listing's lifetime. */
const keptSeconds = 7.5

/** A name in a directory that the session has told. */
export interface At {
  readonly parent: number
  readonly name: string
  readonly node: number
}

/** One mount whose kernel is this process. */
export class Calls {
  readonly #session: Session
  #answer: (reply: Buffer) => void = () => {}

  constructor({ drive, news }: AssembledDrive, activity = new Activity()) {
    const device = { read: () => 0, write: (reply: Buffer) => this.#answer(reply), pageBytes: 4096 }
    const log = { failed: () => {}, calls: activity.calls }
    const parts = { drive, news, log, clock: systemClock, pending: openPendingCalls() }
    this.#session = new Session(device, { ...parts, keptSeconds, xattrs: true }, () => {})
  }

  /** The same request as often as it is called. @throws Error with the errno of the answer */
  request(opcode: number, node: number, body: Buffer): () => Promise<Buffer> {
    const bytes = message(opcode, body, { node, pid: process.pid })
    return () =>
      new Promise((answer, refuse) => {
        this.#answer = reply => {
          const error = reply.readInt32LE(4)
          // A notification answers no request.
          if (numberAt(reply, 8) === 0) return
          // The session uses its buffers again, as the kernel has its own copy.
          if (error === 0) answer(Buffer.from(reply.subarray(16)))
          else refuse(new Error(`opcode ${opcode} of node ${node}: errno ${-error}`))
        }
        this.#session.serve(bytes)
      })
  }

  async lookup(parent: number, name: string): Promise<At> {
    return { parent, name, node: numberAt(await this.look({ parent, name })(), 0) }
  }

  /** A stat(2) whose name the kernel keeps no more. */
  look({ parent, name }: Omit<At, 'node'>): () => Promise<Buffer> {
    return this.request(opcodes.lookup, parent, text(name))
  }

  async readdir({ node }: Pick<At, 'node'>): Promise<readonly string[]> {
    const handle = numberAt(await this.request(opcodes.opendir, node, halves(0, 0))(), 0)
    const page = await this.request(opcodes.readdir, node, words(handle, 0, wholeListing, 0, 0))()
    await this.request(opcodes.releasedir, node, words(handle, 0, 0))()
    return listedIn(page, false).map(({ name }) => name)
  }

  /** Opens, reads to the end and closes; the bytes. */
  async readWhole({ node }: At): Promise<Buffer> {
    const handle = await this.#open(node, readOnly)
    const pieces: Buffer[] = []
    for (let at = 0; ; at += pieceBytes) {
      const piece = await this.request(opcodes.read, node, words(handle, at, pieceBytes, 0, 0))()
      pieces.push(piece)
      if (piece.length < pieceBytes) break
    }
    await this.#close(node, handle)
    return Buffer.concat(pieces)
  }

  /** Opens for writing, empties, writes and closes, as a program that saves in place. */
  async overwrite({ node }: At, written: Buffer): Promise<void> {
    const handle = await this.#open(node, writeOnly)
    await this.request(opcodes.setattr, node, setattr({ size: 0, handle }))()
    const body = Buffer.concat([words(handle, 0, written.length, 0, 0), written])
    await this.request(opcodes.write, node, body)()
    await this.#close(node, handle)
  }

  async #open(node: number, flags: number): Promise<number> {
    return numberAt(await this.request(opcodes.open, node, halves(flags, 0))(), 0)
  }

  async #close(node: number, handle: number): Promise<void> {
    await this.request(opcodes.flush, node, words(handle, 0, 0))()
    await this.request(opcodes.release, node, words(handle, 0, 0))()
  }
}
