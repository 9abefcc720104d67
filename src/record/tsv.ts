// Cell of a tab-separated line: never holds a tab or a line end.

/** The text with tabs and line ends written as `%09`, `%0A` and `%0D`; one without any stays as it is. */
export function escapeCell(text: string): string {
  if (!/[\t\n\r]/.test(text)) return text
  return text.replace(/%(?=0[9AD])/g, '%25').replace(/[\t\n\r]/g, sign => escapes[sign] ?? sign)
}

const escapes: Readonly<Record<string, string>> = { '\t': '%09', '\n': '%0A', '\r': '%0D' }
