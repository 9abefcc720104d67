// A program on a terminal of its own (tmux with its own socket), as a user sees it.
import type { Test } from 'tap'
import { printed } from './programs.js'
import { succeeds, until } from './within.js'

export type Terminal = Awaited<ReturnType<typeof terminal>>

let terminals = 0
/** Milliseconds between two looks: each starts a program. */
const pause = 100

export async function terminal(t: Test, command: string, environment: Readonly<Record<string, string>> = {}) {
  const socket = `calcfs-${process.pid}-${++terminals}`
  const tmux = (...args: string[]): Promise<string> => printed('tmux', ['-L', socket, ...args])
  const variables = Object.entries(environment).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  await tmux('-f', '/dev/null', 'new-session', '-d', '-x', '120', '-y', '48', ...variables, command)
  t.teardown(() => tmux('kill-server').catch(() => {}))
  const screen = (): Promise<string> => tmux('capture-pane', '-p', '-J')
  return {
    /** What is on the screen. */
    screen,
    async until(form: RegExp): Promise<void> {
      let seen = ''
      const isShown = async (): Promise<boolean> => {
        seen = await screen()
        return form.test(seen)
      }
      await until(20_000, `${command} shows ${form}`, isShown, pause).catch(cause => {
        throw new Error(`${asText(cause)}; the screen:\n${seen.trimEnd()}`, { cause })
      })
    },
    /** Each text and Enter. */
    async type(...texts: string[]): Promise<void> {
      for (const text of texts) {
        if (text !== '') await tmux('send-keys', '-l', text)
        await tmux('send-keys', 'Enter')
      }
    },
    /** The text without Enter. */
    write: (text: string) => tmux('send-keys', '-l', text),
    /** Keys by tmux's names: `C-x`, `Enter`. */
    keys: (...names: string[]) => tmux('send-keys', ...names),
    /** As its window is closed: the program gets SIGHUP, and there is no terminal any more. */
    close: () => tmux('kill-server'),
    /** Resolves when the program has ended. */
    ended: () => until(20_000, `${command} ends`, async () => !(await succeeds(tmux('has-session'))), pause),
  }
}

const asText = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
