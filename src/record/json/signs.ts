// Character codes of JSON, equal in UTF-8 bytes and UTF-16 units.

/** In the place of a sign where the text has ended. */
export const endOfText = -1
export const [quote, backslash, comma, colon, slash, star] = [0x22, 0x5c, 0x2c, 0x3a, 0x2f, 0x2a] as const
export const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d] as const
export const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d] as const

/** White space as JSON has it. */
export const isSpace = (sign: number): boolean =>
  sign === space || sign === lineFeed || sign === tab || sign === carriageReturn
