// A text as one word of a shell: in quotes where the shell takes one of its characters for its own.

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
