// Cell of a tab-separated line: never holds a tab, a line end, or anything else that a terminal or a table obeys.

/** The text with control characters percent-escaped as in names (`%09`, `%1B`); one without any stays as it is. */
export function escapeCell(text: string): string {
  if (!/\p{Cc}/u.test(text)) return text
  return text.replace(escapedAlready, '%25').replace(/\p{Cc}/gu, encodeURIComponent)
}

const escapedAlready = /%(?=[01][0-9A-F]|7F|C2%[89][0-9A-F])/g

/** The cell as readers of CSV take it: one that begins with a double quote stands in quotes. */
export function quotedCell(text: string): string {
  const cell = escapeCell(text)
  return cell.startsWith('"') ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** The text of a cell that a writer of CSV may have put in quotes; any other stays as it is. */
export const unquotedCell = (cell: string): string =>
  /^"(?:[^"]|"")*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell
