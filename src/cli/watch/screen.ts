// Screen of a command that watches: redrawn in place on a terminal until Ctrl-C, with the last picture left standing.
import { setTimeout as pause } from 'node:timers/promises'
import { untilSignal } from '../../terminal/exit.js'
import { visible } from '../../terminal/print.js'

/** True if it is a terminal with a size that can be redrawn: any other is written to line by line. */
export const isScreen = (out: NodeJS.WriteStream): boolean =>
  out.isTTY && out.columns > 0 && out.rows > 0 && process.env['TERM'] !== 'dumb'

/** A line that wraps would be two of the screen. */
const shortened = (line: string, columns: number): string =>
  line.length <= columns ? line : `${line.slice(0, columns - 1)}…`

export async function openScreen(out: NodeJS.WriteStream) {
  const { createLogUpdate } = await import('log-update')
  const update = createLogUpdate(out)
  return {
    show(text: string): void {
      const lines = visible(text)
        .split('\n')
        .map(line => shortened(line, out.columns))
      // Lines beyond the terminal's height would scroll at each redraw.
      const room = Math.max(1, out.rows - 1)
      update((lines.length <= room ? lines : [...lines.slice(0, room - 1), '…']).join('\n'))
    },
    end: (): void => update.done(),
  }
}

/** Repeats until Ctrl-C, a signal that ends programs, or until `step` answers false. Nothing is thrown for a signal. */
export async function untilInterrupted(everyMs: number, step: () => Promise<boolean>): Promise<void> {
  const ended = new AbortController()
  void untilSignal('SIGINT', 'SIGTERM', 'SIGHUP').then(() => ended.abort())
  try {
    while (!ended.signal.aborted && (await step())) await pause(everyMs, undefined, { signal: ended.signal })
  } catch (thrown) {
    if (!ended.signal.aborted) throw thrown
  }
}
