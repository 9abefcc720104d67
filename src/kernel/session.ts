// Session: reads the kernel's requests, has each one answered exactly once, and tells the kernel what is no longer as it was told.
import { constants } from 'node:os'
import type { KernelCall } from '../activity/kernel-calls.js'
import type { Drive, KernelNews, NewsSubject } from '../drive/interface/verbs.js'
import { asFailure, errnoOf } from '../failure.js'
import { outcomeOf } from '../maybe-promise.js'
import type { PendingCalls } from '../mount/changes-in-progress.js'
import type { CallLog } from '../mount/fuse.js'
import type { Clock } from '../remote/clock.js'
import { codeOf } from '../system/error-code.js'
import { machineClocks } from '../system/machine-clocks.js'
import { statusTextOf } from '../system/process.js'
import { type Answer, longestSeconds } from './entries.js'
import { type Inode, Inodes } from './inodes.js'
import { type Handled, requestsOf } from './opcode-table.js'
import {
  forgottenIn,
  type Header,
  handleIn,
  headerOf,
  initFlags,
  initIn,
  Malformed,
  nameIn,
  opcodes,
  openAccessIsRead,
  setsNoSize,
} from './protocol.js'
import { attributesGone, putInit, Reply } from './reply.js'

/** The way to the kernel, as read(2) and write(2) of its device: each is one whole message. */
export interface Device {
  /** The length of the request. @throws EAGAIN where there is none */
  read(into: Buffer): number
  write(message: Buffer): void
  readonly pageBytes: number
}

/** The drive of a session, and for how long the kernel keeps its answers. */
export interface SessionParts {
  readonly drive: Drive
  readonly news: KernelNews
  readonly log: CallLog
  readonly clock: Clock
  readonly pending: PendingCalls
  /** Seconds for which the kernel keeps names, attributes and listings that are not known to hold for longer. */
  readonly keptSeconds: number
  readonly xattrs: boolean
}

/** A request that waits for the drive, and changes nothing. */
interface Waiting {
  readonly pid: number
  /** Answers EINTR; what the drive says later is dropped. */
  end(): void
}

const largestWrite = 1 << 20 // 256 pages of 4 KiB, what FUSE_MAX_PAGES allows at most without a system setting
const longestMessage = largestWrite + 4096
const pagesWithoutWord = 32 // FUSE_DEFAULT_MAX_PAGES_PER_REQ
const readahead = 1 << 20
const spokenMinor = 45
/** Linux 4.18, which Red Hat 8 has, speaks 7.26; structs of before 7.23 are others. */
const oldestMinor = 23
/** Milliseconds after which a node is told of once more, where the kernel is about to learn it; FORGET ends it. */
const tellAgainAfter = 5
/** Milliseconds after which a program that was interrupted is looked at again: no second message follows its first. */
const lookAgainEvery = 100
const wanted = Object.values(initFlags).reduce((all, flag) => all | flag, 0)
/** Linux 4.15 to 5.0 hangs with parallel lookups (7.27 to 7.28). */
const parallelSince = 29

/** Milliseconds by which the drive's clock may be ahead of the kernel's, which stands still while the machine sleeps. */
const slack = 1_000

const { errno } = constants

export class Session {
  readonly inodes = new Inodes()
  readonly #handled: ReadonlyMap<number, Handled>
  readonly #buffer = Buffer.allocUnsafe(longestMessage)
  readonly #waiting = new Map<number, Waiting>()
  /** How many requests wait for the drive, and what was told meanwhile: their answers may be of before. */
  #underWay = 0
  readonly #heard = new Set<string>()
  #stopWatching: (() => void) | undefined
  #isEnded = false

  /**
   * @param ended is called once, when the kernel has no more requests
   */
  constructor(
    private readonly device: Device,
    private readonly parts: SessionParts,
    private readonly ended: () => void,
  ) {
    this.#handled = requestsOf({ ...parts, inodes: this.inodes })
    parts.news.listener = this
  }

  /** Takes the request that is there; called whenever the device can be read. */
  ready(): void {
    if (this.#isEnded) return
    let length: number
    try {
      length = this.device.read(this.#buffer)
    } catch (thrown) {
      const code = codeOf(thrown)
      // ENOENT: the request was interrupted before it was read.
      if (code !== 'EAGAIN' && code !== 'EINTR' && code !== 'ENOENT') this.end()
      return
    }
    this.serve(this.#buffer.subarray(0, length))
  }

  /** The mount is gone, or goes: nothing is told or answered any more. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stopWatching?.()
    this.parts.news.listener = undefined
    this.ended()
  }

  /** One message of the kernel. What is no message is dropped: it names no request. */
  serve(message: Buffer): void {
    let header: Header | undefined
    try {
      header = headerOf(message)
      this.#dispatch(message, header)
    } catch (thrown) {
      const error = this.#errnoFor(thrown, 'kernel', '/')
      if (header !== undefined) this.#write(new Reply(0).message(header.unique, error))
    }
  }

  #dispatch(message: Buffer, header: Header): void {
    const { opcode, unique } = header
    switch (opcode) {
      case opcodes.forget:
      case opcodes.batchForget:
        for (const { node, count } of forgottenIn(message, header)) this.inodes.forget(node, count)
        break
      case opcodes.interrupt:
        this.#interrupted(handleIn(message))
        break
      case opcodes.init:
        this.#init(message, unique)
        break
      case opcodes.destroy:
        this.#write(new Reply(0).message(unique))
        break
      default: {
        const handled = this.#handled.get(opcode)
        if (handled === undefined) this.#write(new Reply(0).message(unique, errno.ENOSYS))
        else this.#run(message, header, handled)
      }
    }
  }

  /** An answer that is there at once needs no promise. */
  #run(message: Buffer, header: Header, { verb, answer, mayEnd }: Handled): void {
    const { log, pending } = this.parts
    const name = nameIn(message, header)
    const isAwaited = !mayEnd && !setsNoSize(message, header)
    const call = log.calls.begin(verb, () => this.inodes.pathOf(header.node, name))
    const given = outcomeOf(() => answer(message, header, name ?? ''))
    const waits = 'value' in given && given.value instanceof Promise
    log.calls.returned(call, waits)
    if ('thrown' in given) this.#refuse(call, header, given.thrown)
    else if (!(given.value instanceof Promise)) this.#finish(call, header.unique, given.value)
    else {
      const changesNothing = mayEnd && openAccessIsRead(message, header)
      const answered = this.#whenGiven(call, header, given.value, changesNothing)
      if (isAwaited) pending.begin(answered)
    }
  }

  async #whenGiven(
    call: KernelCall,
    header: Header,
    given: Promise<Answer>,
    changesNothing: boolean,
  ): Promise<void> {
    const { unique, pid } = header
    let isOver = false
    const end = (): void => {
      isOver = true
      this.#waiting.delete(unique)
      this.#answerError(call, unique, errno.EINTR)
    }
    if (changesNothing) this.#waiting.set(unique, { pid, end })
    this.#underWay += 1
    try {
      const answer = await given
      if (isOver) this.#undo(answer)
      else this.#finish(call, unique, answer)
    } catch (thrown) {
      if (!isOver) this.#refuse(call, header, thrown)
    } finally {
      this.#waiting.delete(unique)
      this.#underWay -= 1
      if (this.#underWay === 0) this.#heard.clear()
    }
  }

  /** An answer counts once the kernel has it. */
  #finish(call: KernelCall, unique: number, answer: Answer): void {
    const { reply, error, entered = [], renewed } = answer
    const number = error === undefined ? 0 : errno[error]
    if (renewed !== undefined) this.#tell(renewed)
    const isTaken = this.#write(reply.message(unique, number))
    reply.done()
    if (isTaken) for (const inode of entered) inode.lookups += 1
    else this.#undo(answer)
    this.parts.log.calls.answered(call, number, error ?? 'OK')
    this.#stopWatching ??= this.#watch()
    if (this.#heard.size > 0) for (const inode of entered) this.#tellIfHeard(inode)
  }

  /** The kernel has none of it: its program was ended, or the mount. Another one's answer of this moment may hold the same inode. */
  #undo({ entered = [], undo }: Answer): void {
    setImmediate(() => {
      for (const inode of entered) this.inodes.dropUnused(inode)
    })
    undo?.()
  }

  /** Another version has other attributes than the kernel was told. */
  #refuse(call: KernelCall, { unique, node }: Header, thrown: unknown): void {
    const error = this.#errnoFor(thrown, call.verb, call.path)
    this.#answerError(call, unique, error)
    if (error === errno.ESTALE) this.#write(attributesGone(node))
  }

  #answerError(call: KernelCall, unique: number, error: number): void {
    this.#write(new Reply(0).message(unique, error))
    this.parts.log.calls.answered(call, error, errnoNames.get(error) ?? 'other')
  }

  #errnoFor(thrown: unknown, verb: string, path: string): number {
    if (thrown instanceof Malformed) return errno.EIO
    const failure = asFailure(thrown)
    // The kernel asks again by itself, and gets its answer then.
    if (failure.kind !== 'stale-attributes') this.parts.log.failed(verb, path, failure)
    return errno[errnoOf(failure.kind)]
  }

  /** False where the kernel has given the request up, or the mount is gone. */
  #write(message: Buffer): boolean {
    if (this.#isEnded) return false
    try {
      this.device.write(message)
      return true
    } catch (thrown) {
      if (codeOf(thrown) === 'ENODEV') this.end()
      return false
    }
  }

  #init(message: Buffer, unique: number): void {
    const { major, minor, readahead: offered, flags } = initIn(message)
    const isSpoken = major === 7 && minor >= oldestMinor
    const without = minor < parallelSince ? initFlags.parallelDirops : 0
    const hasPages = (flags & initFlags.maxPages) !== 0
    const { pageBytes } = this.device
    const out = {
      minor: Math.min(minor, spokenMinor),
      readahead: Math.min(offered, readahead),
      flags: flags & wanted & ~without,
      maxWrite: hasPages ? largestWrite : Math.min(largestWrite, pagesWithoutWord * pageBytes),
      maxPages: hasPages ? largestWrite / pageBytes : 0,
    }
    this.#write(putInit(new Reply(), out).message(unique, isSpoken ? 0 : errno.EPROTO))
    if (!isSpoken) this.end()
  }

  /** Any handled signal interrupts; only one that ends a program ends its wait, so that a timer or a resized window brings no EINTR. */
  #interrupted(unique: number): void {
    const waiting = this.#waiting.get(unique)
    if (waiting === undefined || this.#isEnded) return
    if (isEnding(waiting.pid)) waiting.end()
    else this.parts.clock.after(lookAgainEvery, () => this.#interrupted(unique), 'in-background')
  }

  /** Heard from the drive: what the kernel was told of it is over. */
  hear(subject: NewsSubject): void {
    this.inodes.news += 1
    if (subject === 'all') {
      for (const inode of this.inodes.all) {
        inode.generation += 1
        this.#tell(inode)
      }
      return
    }
    for (const key of subject) {
      if (this.#underWay > 0) this.#heard.add(key)
      for (const inode of [...this.inodes.ofThing(key)]) {
        inode.generation += 1
        this.#tell(inode)
        for (const child of inode.children?.values() ?? []) this.#tell(child)
      }
    }
  }

  /** After a sleep of the machine, lifetimes are over that the kernel still counts. */
  #watch(): () => void {
    const { clock, keptSeconds } = this.parts
    const longestMs = longestSeconds(keptSeconds) * 1000
    const [began, kernelBegan] = [clock.now(), machineClocks.monotonic()]
    const compare = (): void => {
      this.#stopWatching = undefined
      if (clock.now() - began > machineClocks.monotonic() - kernelBegan + slack) this.hear('all')
    }
    return clock.after(longestMs, compare, 'in-background')
  }

  #tellIfHeard(inode: Inode): void {
    const isNews = this.#heard.has(inode.thing) || this.#heard.has(inode.parent?.thing ?? '')
    if (isNews) this.#tell(inode)
  }

  /** The kernel does not find a node whose first answer it is still reading. */
  #tell(inode: Inode): void {
    if (this.#write(attributesGone(inode.id)) || inode.lookups === 0 || this.#isEnded) return
    this.parts.clock.after(tellAgainAfter, () => this.#tell(inode), 'in-background')
  }
}

const errnoNames = new Map(Object.entries(errno).map(([name, number]) => [number, name]))

/** SIGHUP, SIGINT, SIGQUIT, SIGKILL and SIGTERM, signal(7), as bits of /proc/PID/status. */
const endingSignals = [1, 2, 3, 9, 15].reduce((mask, signal) => mask | (1 << (signal - 1)), 0)

/** True if a signal is pending that is meant to end the process; of one that cannot be looked at the wait ends by the deadline. */
function isEnding(pid: number): boolean {
  const status = statusTextOf(pid) ?? ''
  const mask = (name: string): number => Number(`0x${status.split(`\n${name}:\t`)[1]?.slice(8, 16) ?? 0}`)
  return ((mask('SigPnd') | mask('ShdPnd')) & ~mask('SigBlk') & endingSignals) !== 0
}
