// A desktop session on a virtual screen (Xvfb): a bus with the services that Debian's packages start on it, a program on it, simulated key presses (xdotool), and the words that are shown.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { printed, python, run } from '../programs.js'
import type { TestLifetime } from '../testbed.js'
import { until, within } from '../within.js'
import { pressing, reading } from './accessibility.js'

export type Session = Awaited<ReturnType<typeof session>>

interface Window {
  readonly id: string
  readonly title: string
}

/** Milliseconds for a program to show what it does on a machine that does other things too. */
const patience = 60_000
/** Milliseconds between two looks: each starts programs. */
const pause = 100

/** @param home the session's home directory, which must be the test's own */
export async function session(t: Test, home: string) {
  const runtime = join(home, 'run')
  await mkdir(runtime, { mode: 0o700, recursive: true })
  // Without -noreset the server begins again when its last client leaves, as each look of xdotool does, and turns away the program that connects just then.
  const options = ['-displayfd', '3', '-screen', '0', '900x700x24', '-nolisten', 'tcp', '-noreset']
  const display = await server(t, 'xvfb', ['Xvfb', ...options])
  const own = {
    DISPLAY: `:${display}`,
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local/share'),
    XDG_STATE_HOME: join(home, '.local/state'),
    LC_ALL: 'C.UTF-8',
    GSETTINGS_BACKEND: 'memory',
    // GTK 2 and Qt show their words to others only when asked.
    GTK_MODULES: 'gail:atk-bridge',
    QT_LINUX_ACCESSIBILITY_ALWAYS_ON: '1',
  }
  // The services that the bus starts end with it: a program of a desktop goes when its bus does.
  const bus = await server(
    t,
    'dbus-daemon',
    ['dbus-daemon', '--session', '--nofork', '--print-address=3'],
    own,
  )
  const environment = { ...own, DBUS_SESSION_BUS_ADDRESS: bus }
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

  async function words(): Promise<readonly string[]> {
    // A window that goes while it is read ends the look; the next one is without it.
    const { stdout } = await run(python, ['-c', reading], { environment })
    return [...new Set(stdout.split('\n').filter(word => word !== ''))]
  }

  /** Resolves with what the windows show once one of the words has this form. */
  async function untilWords(form: RegExp): Promise<readonly string[]> {
    let shown: readonly string[] = []
    const isShown = async (): Promise<boolean> => {
      shown = await words()
      return shown.some(word => form.test(word))
    }
    await until(patience, `${form} on the screen`, isShown, pause).catch(cause => {
      throw new Error(`${form} on the screen: it shows ${JSON.stringify(shown)}`, { cause })
    })
    return shown
  }

  return {
    /** Where its programs keep what is theirs. */
    environment,
    untilWords,
    /** Presses the button of this name, as soon as it is shown. */
    async press(button: string): Promise<void> {
      const isPressed = async () => (await run(python, ['-c', pressing, button], { environment })).code === 0
      await until(patience, `a button ${button}`, isPressed, pause).catch(async cause => {
        throw new Error(`a button ${button}: the screen shows ${JSON.stringify(await words())}`, { cause })
      })
    },
    /** Starts a program and waits for a window whose title has this form. */
    async start(command: string, args: readonly string[], window: RegExp): Promise<void> {
      program = spawn(command, args, {
        env: { ...busless(), ...environment },
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

/** Starts a server, and answers what it says on its third descriptor once it takes clients. */
async function server(
  t: TestLifetime,
  debian: string,
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(program, args, {
    env: { ...busless(), ...environment },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  t.teardown(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const said = child.stdio[3]
  if (said === null || said === undefined) throw new Error(`${program} has no pipe to speak on`)
  const refuse = (cause: unknown): never => {
    throw new Error(`${program} does not run; install it: apt-get install ${debian}`, { cause })
  }
  const failed = once(child, 'exit').then(refuse, refuse)
  const [first] = await within(patience, program, Promise.race([once(said, 'data'), failed]))
  return String(first).trim()
}

/** The variables of the tests without the bus of the user that runs them. */
function busless(): NodeJS.ProcessEnv {
  const { DBUS_SESSION_BUS_ADDRESS: _, ...rest } = process.env
  return rest
}
