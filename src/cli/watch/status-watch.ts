// `status --watch`: the state of the drives again and again, redrawn on a terminal, elsewhere a line for each change.
import { printLine, printText } from '../../terminal/print.js'
import { isScreen, openScreen, untilInterrupted } from './screen.js'

/** One drive as it is now. */
export interface DriveState {
  readonly facts: object
  readonly text: string
}

export interface WatchedStatus {
  readonly isJson: boolean
  /** The last line, once none is mounted any more. */
  readonly atEnd: string
  /** All that are mounted; `check` sends a request to each service first. */
  look(check: boolean): Promise<readonly DriveState[]>
}

/** Milliseconds between two looks; the service is asked with each tenth of them only. */
const everyMs = 1_000
const checkEvery = 10

export async function watchStatus({ isJson, atEnd, look }: WatchedStatus): Promise<void> {
  const screen = isScreen(process.stdout) && !isJson ? await openScreen(process.stdout) : undefined
  const changes = isJson ? jsonChanges() : lineChanges(atEnd)
  let looks = 0
  let isGone = false
  await untilInterrupted(everyMs, async () => {
    const states = await look(looks % checkEvery === 0)
    looks += 1
    if (screen === undefined) for (const line of changes(states)) printText(`${line}\n`)
    else screen.show(states.map(({ text }) => text).join('\n\n'))
    isGone = states.length === 0
    return !isGone
  })
  screen?.end()
  if (isGone && screen !== undefined) printLine(atEnd)
}

/** What was not there a look before, with its time; that the last drive has gone is told as well. */
function lineChanges(atEnd: string): (states: readonly DriveState[]) => readonly string[] {
  let before: ReadonlySet<string> | undefined
  return states => {
    const lines = states.flatMap(({ text }) => linesOf(text))
    const fresh = lines.filter(line => before?.has(line) !== true)
    const isGone = lines.length === 0 && before?.size !== 0
    before = new Set(lines)
    const at = new Date().toISOString()
    return (isGone ? [atEnd] : fresh).map(line => `${at} ${line}`)
  }
}

/** Each line with the drive that it is about, and without counts that grow all the time. */
function linesOf(text: string): readonly string[] {
  const [first = '', ...rest] = text.split('\n')
  const drive = first.replace(/: .*/s, '')
  const plain = rest.map(line => `${drive}: ${line.trim().replace(/ \(\d+ requests so far\)$/, '')}`)
  return [first, ...plain]
}

/** One line of JSON for each look that found something else: what changes with each look does not count. */
function jsonChanges(): (states: readonly DriveState[]) => readonly string[] {
  let before = ''
  return states => {
    const facts = states.map(state => state.facts)
    const lasting = JSON.stringify(facts, (key, value: unknown) => (passing.has(key) ? undefined : value))
    if (lasting === before) return []
    before = lasting
    return [JSON.stringify(facts)]
  }
}

const passing: ReadonlySet<string> = new Set(['at', 'requests', 'answersInMs', 'kernelTold', 'cache'])
