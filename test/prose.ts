// The prose of a source file: its comments and texts, without identifiers and regular expressions.
import ts from 'typescript'

/** The source with its identifiers and regular expressions blanked out; lines keep their numbers. */
export function proseOf(source: string): string {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest)
  const pieces: string[] = []
  let done = 0
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isRegularExpressionLiteral(node)) {
      pieces.push(source.slice(done, node.getStart(file)))
      done = node.end
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return [...pieces, source.slice(done)].join(' ')
}
