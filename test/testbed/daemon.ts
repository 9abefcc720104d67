// A daemon of `calcfs mount` with a process of its own: started until its drive is there, and ended.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { flagName } from '../../src/config/settings.js'
import { plainNode } from './programs.js'
import { until, within } from './within.js'

export const calcfs = fileURLToPath(new URL('../../../bin/calcfs', import.meta.url))

/** Milliseconds: a daemon has to be up, or gone, within this on a machine that does other things too. */
export const mountPatience = 45_000

export type Settings = Readonly<Record<string, string | readonly string[]>>

export interface DaemonOrder {
  readonly url: string
  /** The mount point. */
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  /** The first words of its command, which start it in a network of its own. */
  readonly prefix?: readonly string[]
  /** A module that its Node loads first. */
  readonly preload?: URL
  /** `bin/calcfs` of another copy of the program. */
  readonly program?: string
}

export class Daemon {
  #process: ChildProcess | undefined

  constructor(readonly order: DaemonOrder) {}

  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Whether the one that was started last is still there. */
  get alive(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null
  }

  /** @throws Error with what it has said where it ends, or is not there in time */
  async start(settings: Settings): Promise<void> {
    const { url, directory, environment, prefix = [], preload, program = calcfs } = this.order
    const flags = Object.entries(settings).flatMap(([name, value]) =>
      [value].flat().flatMap(word => [`--${flagName(name)}`, word]),
    )
    const first = preload === undefined ? [] : ['--import', preload.href]
    const [command = '', ...words] = [...prefix, ...plainNode, ...first, program, 'mount', url, directory]
    const child = spawn(command, [...words, ...flags], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process = child
    let said = ''
    child.stderr.on('data', piece => {
      said = `${said}${piece}`.slice(-4_000)
    })
    await until(mountPatience, 'mounting', async () => {
      if (!this.alive) throw new Error(`the daemon ended with ${child.exitCode ?? child.signalCode}: ${said}`)
      return isAlive(directory)
    }).catch((thrown: unknown) => {
      // It never came up: nothing is to be ended in order.
      child.kill('SIGKILL')
      throw thrown
    })
  }

  /** Its exit status. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const ending = this.#process
    if (ending === undefined || !this.alive) return ending?.exitCode ?? null
    const closed = once(ending, 'exit')
    ending.kill(signal)
    const [code] = await within(mountPatience, 'the end of the daemon', closed)
    return code
  }

  /** For the end of a test: killed where it does not end. */
  async endAnyhow(): Promise<void> {
    await this.end().catch(() => this.#process?.kill('SIGKILL'))
  }
}

/**
 * A dead mount is listed until it is taken away, and then the bare directory is there for a moment; of all questions
 * only statfs is never answered from the kernel's cache, and it says which of the three this is.
 */
const isAlive = (directory: string): Promise<boolean> =>
  fs.statfs(directory).then(
    ({ type }) => type === fuseMagic,
    () => false,
  )

/** FUSE_SUPER_MAGIC of statfs(2). */
const fuseMagic = 0x65735546

/** The variables of a user who lives in this directory. */
export const livingIn = (home: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_CACHE_HOME: join(home, 'cache'),
  XDG_STATE_HOME: join(home, 'state'),
  XDG_DATA_HOME: join(home, 'data'),
  XDG_RUNTIME_DIR: join(home, 'run'),
})
