// What a command could not have: named on standard error while the rest goes on, and its exit code.

import type { TreeProblem } from '../../drive/interface/reader.js'
import { isA } from '../../failure.js'
import { type ExitCode, exitCodeOf, exitCodes, sentenceOf } from '../../terminal/exit.js'
import { complain } from '../../terminal/print.js'

export interface Problems {
  /** `shown` is how the user calls the path. */
  add(shown: string, thrown: unknown): void
  /** 0 without a problem; the code of all of them where they have one, else that of any failure. */
  readonly exitCode: ExitCode
  readonly all: readonly NamedProblem[]
}

export interface NamedProblem {
  readonly path: string
  readonly sentence: string
}

/** `print` takes a line for people. */
export function openProblems(print: (line: string) => void): Problems {
  const codes = new Set<ExitCode>()
  const all: NamedProblem[] = []
  return {
    add(shown, thrown) {
      const sentence = sentenceOf(thrown) ?? ''
      codes.add(exitCodeOf(thrown))
      all.push({ path: shown, sentence })
      // Many sentences begin with the path on the drive.
      print(sentence.includes(shown) ? sentence : `${shown}: ${sentence}`)
    },
    get exitCode() {
      const [only = exitCodes.done, other] = codes
      return other === undefined ? only : exitCodes.failed
    },
    all,
  }
}

export const onStandardError = (line: string): void => complain(line)

/** Whether another try may bring it: the service was away, busy or faulty, or the file changed while it was read. */
export const mayComeLater = ({ failure }: TreeProblem): boolean =>
  isA('passing', failure) || failure.kind === 'replaced' || failure.kind === 'in-doubt'
