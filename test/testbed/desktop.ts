// A virtual screen (Xvfb), with a program on it and simulated key presses (xdotool).
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { printed, run } from './programs.js'
import { until, within } from './within.js'

export type Desktop = Awaited<ReturnType<typeof desktop>>

interface Window {
  readonly id: string
  readonly title: string
}

/** Milliseconds for a window to appear on a machine that does other things too. */
const patience = 40_000
/** Milliseconds between two looks: each starts programs. */
const pause = 100

/** What programs on the screen get as their environment. */
export type DesktopEnvironment = Readonly<Record<string, string>>

/** No session bus and no settings of the user that runs the tests: the program is alone on its screen. */
const alone = { GSETTINGS_BACKEND: 'memory', NO_AT_BRIDGE: '1' }

/**
 * @param home the program's home directory, which must be the test's own
 * @param surroundings starts what else is on that screen, and answers the environment that it makes
 */
export async function desktop(
  t: Test,
  home: string,
  surroundings: (screen: DesktopEnvironment) => Promise<DesktopEnvironment> = async () => alone,
) {
  // Without -noreset the server begins again when its last client leaves, as each look of xdotool does, and turns away the program that connects just then.
  const options = ['-displayfd', '3', '-screen', '0', '900x700x24', '-nolisten', 'tcp', '-noreset']
  const server = spawn('Xvfb', options, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  t.teardown(async () => {
    server.kill()
    if (server.exitCode === null) await once(server, 'exit')
  })
  const screen = { DISPLAY: `:${await displayOf(server)}`, HOME: home }
  const environment: DesktopEnvironment = { ...screen, ...(await surroundings(screen)) }
  let program: ChildProcess | undefined
  let failure: Error | undefined
  /** How the program has ended, for messages. */
  let ending = ''
  t.teardown(() => void program?.kill('SIGKILL'))
  const xdotool = (...args: string[]): Promise<string> => printed('xdotool', args, { environment })

  async function windows(): Promise<readonly Window[]> {
    const { stdout } = await run('xdotool', ['search', '--onlyvisible', '--name', '.'], { environment })
    const found = stdout.split('\n').filter(id => id !== '')
    const named = found.map(async id => ({
      id,
      title: (await run('xdotool', ['getwindowname', id], { environment })).stdout.trim(),
    }))
    return (await Promise.all(named)).filter(({ title }) => title !== '')
  }

  /** The window with such a title, once `enough` says that all the windows are as they should be. */
  async function untilWindow(
    window: RegExp,
    enough: (seen: readonly Window[]) => boolean = seen => seen.length === 1,
  ): Promise<Window | undefined> {
    let seen: readonly Window[] = []
    const wanted = (): Window | undefined => seen.find(({ title }) => window.test(title))
    const isThere = async (): Promise<boolean> => {
      if (failure !== undefined) throw failure
      seen = await windows()
      return enough(seen) && wanted() !== undefined
    }
    await until(patience, `a window ${window}`, isThere, pause).catch(cause => {
      throw new Error(`a window ${window}: the windows are ${JSON.stringify(seen)}${ending}`, { cause })
    })
    return wanted()
  }

  /** There is no window manager here that would do it. */
  async function focus(window: Window | undefined): Promise<void> {
    if (window !== undefined) await xdotool('windowfocus', window.id)
  }

  return {
    /** Starts a program and waits for a window whose title has this form. */
    async start(command: string, args: readonly string[], window: RegExp): Promise<void> {
      const { DBUS_SESSION_BUS_ADDRESS: _, ...rest } = process.env
      program = spawn(command, args, {
        env: { ...rest, LC_ALL: 'C.UTF-8', ...environment },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let said = ''
      program.stderr?.on('data', piece => {
        said = `${said}${piece}`.slice(-2000)
      })
      program.once('exit', (code, signal) => {
        ending = `; ${command} has ended with ${signal ?? code}: ${said}`
      })
      program.once('error', cause => {
        failure = new Error(`${command} does not run; install it: apt-get install ${command}`, { cause })
      })
      await focus(await untilWindow(window))
    },
    /** Resolves when there is one window, and its title has this form: no dialog is open next to it. */
    until: async (window: RegExp) => focus(await untilWindow(window)),
    /** Resolves when one of the windows has such a title, and takes the keys. */
    untilOneOf: async (window: RegExp) => focus(await untilWindow(window, () => true)),
    /** Keys by X's names, one after another: `ctrl+s`, `Down`. */
    keys: async (...names: string[]) => void (await xdotool('key', '--delay', '30', ...names)),
    type: async (text: string) => void (await xdotool('type', '--delay', '30', text)),
  }
}

/** The server says its number once it takes clients. */
async function displayOf(server: ChildProcess): Promise<string> {
  const said = server.stdio[3]
  if (said === null || said === undefined) throw new Error('Xvfb has no pipe to say its number on')
  const refuse = (cause: unknown): never => {
    throw new Error('Xvfb does not run; install it: apt-get install xvfb', { cause })
  }
  const failed = once(server, 'exit').then(refuse, refuse)
  const [number] = await within(patience, 'Xvfb', Promise.race([once(said, 'data'), failed]))
  return String(number).trim()
}
