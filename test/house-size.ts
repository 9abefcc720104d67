// How the size of the house is counted: lines, files, rules, constants of time, bytes of documents.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import type { ceilings } from './ceilings.js'

/** Counts what test/ceilings.ts limits, in the checkout at `root`. */
export function houseSize(root: string): Readonly<Record<keyof typeof ceilings, number>> {
  const sources = filesIn(root, 'src', '.ts')
  const tests = filesIn(root, 'test', '.ts')
  const semantics = read(root, 'docs/semantics.md')
  const commands = read(root, 'docs/commands.md')
  const documents = filesIn(root, '.', '.md').map(file => read(root, file))
  const rules = [...rulesOf(semantics), ...rulesOf(commands)]
  return {
    'lines of src': linesOf(root, sources),
    'files of src': sources.length,
    'lines of test': linesOf(root, tests),
    'rules of docs/semantics.md': rulesOf(semantics).length,
    'bytes of docs/semantics.md': Buffer.byteLength(semantics),
    'rules of docs/commands.md': rulesOf(commands).length,
    'bytes of docs/commands.md': Buffer.byteLength(commands),
    'rules of more than 40 words': rules.filter(({ words }) => words > 40).length,
    'constants of time in src': sources.flatMap(file => timeConstants(read(root, file))).length,
    'bytes of all documents': documents.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  }
}

/** The rules of a document, and how many words each has. A rule starts a line, a list item, a table row or a heading: `**READ-3**`, `| READ-3 |`, `### READ-3`. It ends with its paragraph. */
export function rulesOf(document: string) {
  const starts = /^[\s|#*+-]*[`*]*([A-Z]{2,}-\d+)\b/
  const found = new Map<string, number>()
  let id: string | undefined
  for (const line of document.split('\n')) {
    const begun = starts.exec(line)?.[1]
    if (begun !== undefined) id = begun
    else if (line.trim() === '' || /^(#|- )/.test(line)) id = undefined
    if (id === undefined) continue
    const words = line.split(/\s+/).filter(word => /\w/.test(word)).length
    found.set(id, (found.get(id) ?? 0) + words - (begun === undefined ? 0 : 1))
  }
  return [...found].map(([name, words]) => ({ id: name, words }))
}

/** Names of top-level numbers that are times by their name. */
function timeConstants(text: string): readonly string[] {
  const file = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true)
  const isNumber = /^[\d_.]+(\s*(\*|<<|\*\*)\s*[\d_.]+)*$/
  const isTime = /[mM]s$|every|within|after|Wait|wait|Seconds|seconds|for/
  return file.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations)
    .filter(({ initializer }) => initializer !== undefined && isNumber.test(initializer.getText()))
    .map(({ name }) => name.getText())
    .filter(name => isTime.test(name))
}

const read = (root: string, file: string): string => readFileSync(join(root, file), 'utf8')

const linesOf = (root: string, files: readonly string[]): number =>
  files.reduce((sum, file) => sum + read(root, file).split('\n').length - 1, 0)

/** Files below a folder, without what is installed or built. */
export function filesIn(root: string, folder: string, ending: string): readonly string[] {
  const below = (directory: string): readonly string[] =>
    readdirSync(directory, { withFileTypes: true }).flatMap(entry => {
      if (entry.isDirectory())
        return /^(node_modules|dist|\.git|\.stryker-tmp)$/.test(entry.name)
          ? []
          : below(join(directory, entry.name))
      return entry.isFile() && entry.name.endsWith(ending)
        ? [relative(root, join(directory, entry.name))]
        : []
    })
  return below(join(root, folder))
}
