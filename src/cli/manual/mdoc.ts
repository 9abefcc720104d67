// The mdoc(7) language: text made safe for it.

/** Characters that troff gives a meaning, and a dash that can be copied to a shell. */
export function safe(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('→', '\\(->')
    .replaceAll('·', '\\(pc')
    .replace(/^([.'])/, '\\&$1')
}

/** A word of a macro's line: quoted, since blanks part its arguments and a macro's name in it would be called. */
export const word = (text: string): string => `"${safe(text).replaceAll('"', '\\(dq')}"`

export const paragraph = (text: string): readonly string[] =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.:]) (?=[A-Z`])/)
    .map(sentence => safe(sentence.replaceAll('`', '')))

/** A text of docs/help/: a section with its title, and its lines as they are. */
export function section(markdown: string): readonly string[] {
  const [title = '', ...lines] = markdown.trim().split('\n')
  return [`.Sh ${safe(title.replace(/^# /, '').toUpperCase())}`, ...typed(lines)]
}

export function typed(lines: readonly string[]): readonly string[] {
  return ['.Bd -literal -offset indent', ...lines.map(line => safe(line)), '.Ed']
}

const longestLine = 78

/** Text lines broken at blanks, as mandoc asks for; macros and lines to type stay. */
export function filled(lines: readonly string[]): readonly string[] {
  let isLiteral = false
  return lines.flatMap(line => {
    if (line.startsWith('.Bd -literal')) isLiteral = true
    if (line === '.Ed') isLiteral = false
    return isLiteral || line.startsWith('.') ? [line] : broken(line)
  })
}

function broken(line: string): readonly string[] {
  const at = line.length <= longestLine ? -1 : line.lastIndexOf(' ', longestLine)
  if (at <= 0) return [line]
  return [line.slice(0, at), ...broken(line.slice(at + 1).replace(/^([.'])/, '\\&$1'))]
}
