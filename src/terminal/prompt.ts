// Prompts at the terminal; a password is not shown while it is typed.
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { exitCodes, Stop } from './exit.js'

/** One line from the terminal, or the next line of a pipe. @throws Stop where nothing was typed, at Ctrl-D, and where the input has ended */
export function askFor(question: string, echo: 'shown' | 'hidden'): Promise<string> {
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() })
  const terminal = process.stdin.isTTY === true
  const lines = createInterface({
    input: process.stdin,
    output: echo === 'shown' ? process.stderr : nowhere,
    terminal,
  })
  // Written once the terminal is read key by key: earlier input would not be recognised as Ctrl-C or Ctrl-D.
  if (terminal) process.stderr.write(question)
  return new Promise((resolve, reject) => {
    let answer: string | undefined
    let interrupted = false
    lines.once('line', line => {
      answer = line
      lines.close()
    })
    lines.once('SIGINT', () => {
      interrupted = true
      lines.close()
    })
    // From here on the terminal echoes what is typed.
    lines.once('close', () => {
      if (terminal && (echo === 'hidden' || answer === undefined)) process.stderr.write('\n')
      if (interrupted) endByInterrupt()
      else if (answer) resolve(answer)
      else reject(new Stop(exitCodes.usage, `${unanswered(question, terminal)}; nothing was done.`))
    })
  })
}

/** @throws Stop with that sentence for another answer than yes */
export async function confirm(question: string, refused: string): Promise<void> {
  const answer = await askFor(`${question} Type yes: `, 'shown')
  if (answer.trim().toLowerCase() !== 'yes') throw new Stop(exitCodes.failed, refused)
}

function unanswered(question: string, isTerminal: boolean): string {
  const asked = `"${question.trim()}"`
  return isTerminal
    ? `nothing was typed for ${asked}`
    : `no line came in for ${asked}: call calcfs at a terminal, or let another program write the answer to its standard input`
}

/** The shell sees a process ended by SIGINT; where a listener catches the signal, the exit code says the same. */
function endByInterrupt(): never {
  process.kill(process.pid, 'SIGINT')
  process.exit(128 + constants.signals.SIGINT)
}
