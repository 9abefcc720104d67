// The one door to standard output and standard error: control characters of others are escaped, and an output that takes nothing ends the command in words.
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { Option } from 'commander'
import { codeOf, systemWords } from '../system/error-code.js'
import { exitCodes, Stop } from './exit.js'

/** A terminal obeys these; a line end and a tab are left. */
const controls = /[^\P{Cc}\n\t]/gu

/** The text with control characters as JSON writes them (`\u001b`): JSON stays JSON, and a terminal obeys nothing in it. */
export const visible = (text: string): string =>
  text.replace(controls, sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The same for a line of JSON whose texts are read again before they are shown. */
export const visibleInJson = (line: string): string =>
  visible(line).replace(/\\(u00(?:[0189][0-9a-f]|7f)|[bfr])|\\./g, (whole, sign) =>
    sign === undefined ? whole : `\\${whole}`,
  )

/** A line on standard output. @throws Stop where it cannot be written */
export const printLine = (line: string): void => printText(`${line}\n`)

export function printText(text: string): void {
  write(visible(text))
}

/** A text whose signs for the terminal are our own: what came from others was escaped before they were added. */
export const printStyled = (text: string): boolean => write(text)

/** Letter for letter unless the reader is a terminal, and no faster than it is taken. @throws Stop where it cannot be written */
export const printBytes = (whole: string | Uint8Array): Promise<void> =>
  printPiece(isTerminal() ? visible(Buffer.from(whole).toString()) : whole)

/** The same for one file that comes in pieces: a character that two of its pieces share is shown whole, and is no part of another file. */
export class FilePrinter {
  readonly #decoder = new StringDecoder()

  /** @throws Stop where it cannot be written */
  readonly print = (piece: Uint8Array): Promise<void> =>
    printPiece(isTerminal() ? visible(this.#decoder.write(Buffer.from(piece))) : piece)

  /** The rest of a file that ends within a character. @throws Stop where it cannot be written */
  readonly end = (): Promise<void> => printPiece(this.#decoder.end())
}

const isTerminal = (): boolean => process.stdout.isTTY === true

async function printPiece(piece: string | Uint8Array): Promise<void> {
  if (!write(piece)) await once(process.stdout, 'drain')
}

/** A sentence on standard error, with the name of the program; nothing where there is none to say. */
export function complain(sentence: string | undefined): void {
  if (sentence !== undefined) tell(`calcfs: ${sentence}`)
}

export function tell(line: string): void {
  process.stderr.write(`${visible(line)}\n`)
}

/** Answers false where the reader is slower. Node's own stream for a file leaves out what a full disk did not take of a piece. */
function write(piece: string | Uint8Array): boolean {
  const out: NodeJS.WritableStream & { readonly fd?: number } = process.stdout
  if (out instanceof Socket || typeof out.fd !== 'number') return out.write(piece)
  try {
    for (let rest = Buffer.from(piece); rest.length > 0; ) rest = rest.subarray(writeSync(out.fd, rest))
    return true
  } catch (cause) {
    throw unwritten(cause)
  }
}

const unwritten = (cause: unknown): Stop =>
  new Stop(exitCodes.failed, `standard output cannot be written: ${systemWords(cause) ?? String(cause)}.`, {
    cause,
  })

/** The end of a command whose reader has gone: a reader of a pipe that has read enough, or a closed terminal, ends the command quietly. */
export function watchOutputs(): void {
  process.stdout.on('error', cause => {
    if (['EPIPE', 'EIO'].includes(codeOf(cause) ?? '')) process.exit()
    complain(unwritten(cause).message)
    process.exit(exitCodes.failed)
  })
  // There is no place left to tell it; the exit code says how the command ended.
  process.stderr.on('error', () => {})
}

/** `what` names the document: `an array of drafts`. */
export const jsonFlag = (what: string): Option => new Option('--json', `print JSON: ${what}`)

export interface JsonFlag {
  readonly json?: true
}

/** The facts as one document where `--json` asks for it, else the lines for people. */
export function printFound({ json }: JsonFlag, facts: unknown, lines: string): void {
  if (json === true) printJson(facts)
  else printLine(lines)
}

/**
 * Prints one document. Its keys are in camelCase, times are texts in ISO 8601 (UTC), sizes bytes, durations milliseconds, ids
 * texts; what is not known is left out.
 */
export function printJson(facts: unknown): void {
  printText(`${JSON.stringify(facts, null, 2)}\n`)
}
