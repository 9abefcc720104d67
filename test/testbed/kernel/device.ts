// The kernel's end of /dev/fuse: requests for the session of a drive, its answers, and whether a daemon may answer so.
import { KernelCalls } from '../../../src/activity/kernel-calls.js'
import type { Drive, KernelNews } from '../../../src/drive/interface/verbs.js'
import { asFailure, type Failure } from '../../../src/failure.js'
import { opcodes } from '../../../src/kernel/protocol.js'
import { Session } from '../../../src/kernel/session.js'
import { openPendingCalls } from '../../../src/mount/changes-in-progress.js'
import type { Clock } from '../../../src/remote/clock.js'
import { succeeds, until } from '../within.js'
import { Errno, errnoName, message, numberAt, words } from './bytes.js'
import { KernelNodes } from './nodes.js'

/** What is mounted. */
export interface Mountable {
  readonly drive: Drive
  readonly news: KernelNews
  readonly clock: Clock
  readonly keptSeconds: number
  /** Mounted `ro`: the kernel itself refuses every change. */
  readonly readOnly: boolean
  readonly failed: (verb: string, path: string, failure: Failure) => void
}

interface Question {
  readonly answer: (reply: Buffer) => void
  readonly refuse: (thrown: Error) => void
}

const invalidateInode = 2 // FUSE_NOTIFY_INVAL_INODE
const longestMessage = 1 << 20
/** Milliseconds for what is under way to end before the lookups are counted. */
const endLimit = 20_000

/** One mount. */
export class KernelDevice {
  readonly nodes: KernelNodes
  readonly session: Session
  readonly #questions = new Map<number, Question>()
  readonly #buffer = Buffer.alloc(longestMessage)
  #unique = 0
  readonly #faults: string[] = []
  /** Hears all answers in place of what has asked. */
  listener: ((unique: number, error: number, reply: Buffer) => void) | undefined

  constructor({ drive, news, clock, keptSeconds, failed }: Mountable, pageBytes = 4096) {
    this.nodes = new KernelNodes(clock.now, what => this.fault(what))
    const log = {
      calls: new KernelCalls(),
      failed: (verb: string, path: string, thrown: unknown) => failed(verb, path, asFailure(thrown)),
    }
    const device = { read: () => 0, write: (reply: Buffer) => this.#heard(reply), pageBytes }
    const parts = { drive, news, log, clock, pending: openPendingCalls(), keptSeconds, xattrs: true }
    this.session = new Session(device, parts, () => {})
  }

  /** Ends the test, now and once more at its end: the daemon may take this for a failure of its own. */
  fault(what: string): never {
    this.#faults.push(what)
    throw new Error(what)
  }

  /** The message lies where the next one will lie. */
  send(opcode: number, node: number, body: Buffer): void {
    this.#unique += 2
    const bytes = message(opcode, body, { unique: this.#unique, node, pid: process.pid })
    const given = bytes.length > longestMessage ? bytes : this.#buffer.subarray(0, bytes.length)
    bytes.copy(given)
    this.session.serve(given)
  }

  /** The answer to a request. @throws Errno */
  readonly ask = (opcode: number, node: number, body: Buffer = Buffer.alloc(0)): Promise<Buffer> =>
    new Promise((answer, refuse) => {
      this.#questions.set(this.#unique + 2, { answer, refuse })
      this.send(opcode, node, body)
    })

  /** write(2) of the daemon. */
  #heard(given: Buffer): void {
    const reply = Buffer.from(given)
    const [error, unique] = [reply.readInt32LE(4), numberAt(reply, 8)]
    if (this.listener) this.listener(unique, error, reply.subarray(16))
    else this.#answered(reply, unique, error)
  }

  #answered(reply: Buffer, unique: number, error: number): void {
    if (reply.readUInt32LE(0) !== reply.length) this.fault('a reply of another length than it says')
    const question = this.#questions.get(unique)
    this.#questions.delete(unique)
    if (unique === 0) this.#told(reply, error)
    else if (question === undefined) this.fault(`an answer to ${unique}, which asks nothing`)
    else if (error === 0) question.answer(reply.subarray(16))
    else if (reply.length === 16 && error < 0)
      question.refuse(new Errno(errnoName(-error), 'says the daemon'))
    else this.fault(`an error ${error} with ${reply.length} bytes`)
  }

  /** Attributes only: whatever else is told may wait for a program, and the daemon with it. */
  #told(notification: Buffer, code: number): void {
    if (code !== invalidateInode || notification.readBigInt64LE(24) >= 0n)
      this.fault('a notification that may wait')
    const node = this.nodes.get(numberAt(notification, 16))
    if (node === undefined) throw new Errno('ENOENT', 'no such node')
    node.until = 0
  }

  /** The end of the mount: every lookup is given back, and then the daemon knows the root alone. */
  async end(): Promise<void> {
    const settled = until(endLimit, 'the end of all calls', () => this.#questions.size === 0)
    // A service that never answers is some tests' subject.
    const isQuiet = await succeeds(settled)
    const { held } = this.nodes
    const pairs = held.map(({ id, lookups }) => words(id, lookups))
    this.send(opcodes.batchForget, 0, Buffer.concat([words(pairs.length), ...pairs]))
    const { inodes } = this.session
    if (isQuiet && inodes.size > 1 && held.every(({ handles }) => handles === 0)) {
      const left = [...inodes.all].map(({ id, lookups, handles }) => [inodes.pathOf(id), lookups, handles])
      this.#faults.push(`the daemon keeps nodes that were forgotten: ${left.slice(0, 5).join('; ')}`)
    }
    this.session.end()
    if (this.#faults.length > 0) throw new Error(this.#faults.join('\n'))
  }
}
