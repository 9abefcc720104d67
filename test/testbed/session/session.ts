// A desktop session on a virtual screen: a bus with the services that Debian's packages start on it, and the words that its programs show.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type DesktopEnvironment, desktop } from '../desktop.js'
import { python, run } from '../programs.js'
import { until, within } from '../within.js'
import { pressing, reading } from './accessibility.js'

export type Session = Awaited<ReturnType<typeof session>>

/** Milliseconds for a program to show what it does on a machine that does other things too. */
const patience = 60_000
/** Milliseconds between two looks: each is a Python. */
const pause = 150
/** @param home the session's home directory, which must be the test's own */
export async function session(t: Test, home: string) {
  let environment: DesktopEnvironment = {}
  const screen = await desktop(t, home, async screen => {
    environment = { ...screen, ...(await openBus(t, screen, home)) }
    return environment
  })

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
    ...screen,
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
  }
}

/** The services that the bus starts end with it: a program of a desktop goes when its bus does. */
async function openBus(t: Test, screen: DesktopEnvironment, home: string): Promise<DesktopEnvironment> {
  const runtime = join(home, 'run')
  await mkdir(runtime, { mode: 0o700, recursive: true })
  const environment = {
    ...screen,
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
  const { DBUS_SESSION_BUS_ADDRESS: _, ...rest } = process.env
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address=3'], {
    env: { ...rest, ...environment },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  t.teardown(async () => {
    bus.kill()
    if (bus.exitCode === null && bus.signalCode === null) await once(bus, 'exit')
  })
  const said = bus.stdio[3]
  if (said === null || said === undefined) throw new Error('dbus-daemon has no pipe to say its address on')
  const refuse = (cause: unknown): never => {
    throw new Error('dbus-daemon does not run; install it: apt-get install dbus-daemon', { cause })
  }
  const failed = once(bus, 'exit').then(refuse, refuse)
  const [address] = await within(patience, 'a session bus', Promise.race([once(said, 'data'), failed]))
  return { ...environment, DBUS_SESSION_BUS_ADDRESS: String(address).trim() }
}
