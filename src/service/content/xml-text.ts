// Text of an XML file: its encoding as its first bytes tell it (XML 1.0, appendix F).

/** UTF-16 in either order, with a mark or without one; else UTF-8, of which the markup of every other encoding is a part. */
export function xmlText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes)
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be'
  return 'utf-8'
}
