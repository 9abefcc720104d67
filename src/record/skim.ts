// Walking over a JSON text without making a tree of it: whether it is JSON at all, where a value ends, how it looks in print.

/** Where the walk stands; `at` is behind everything that was read. */
export interface Walk {
  readonly text: string
  at: number
}

const endOfText = -1
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d]

/** The next sign that is no white space, which stays unread. */
export function signAt(walk: Walk): number {
  for (; walk.at < walk.text.length; walk.at += 1) {
    const sign = walk.text.charCodeAt(walk.at)
    if (sign !== space && sign !== tab && sign !== lineFeed && sign !== carriageReturn) return sign
  }
  return endOfText
}

/** Whether the text is one value as JSON has it, nested no deeper than this. */
export function isJson(text: string, deepest: number): boolean {
  const walk: Walk = { text, at: 0 }
  return passValue(walk, deepest) && signAt(walk) === endOfText
}

function passValue(walk: Walk, deeper: number): boolean {
  switch (signAt(walk)) {
    case quote:
      return passString(walk)
    case openObject:
      return deeper > 0 && passItems(walk, deeper - 1, closeObject)
    case openList:
      return deeper > 0 && passItems(walk, deeper - 1, closeList)
    default:
      return passWord(walk)
  }
}

function passItems(walk: Walk, deeper: number, close: number): boolean {
  walk.at += 1
  if (signAt(walk) === close) return passed(walk)
  for (;;) {
    if (close === closeObject) {
      if (signAt(walk) !== quote || !passString(walk) || signAt(walk) !== colon) return false
      walk.at += 1
    }
    if (!passValue(walk, deeper)) return false
    const sign = signAt(walk)
    if (sign === close) return passed(walk)
    if (sign !== comma) return false
    walk.at += 1
  }
}

function passed(walk: Walk): true {
  walk.at += 1
  return true
}

/** A loop of its own: a pattern would need a stack as long as the string. */
function passString(walk: Walk): boolean {
  const { text } = walk
  for (let at = walk.at + 1; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign < space) return false
    if (sign === quote) {
      walk.at = at + 1
      return true
    }
    if (sign !== backslash) continue
    escapeForm.lastIndex = at
    if (!escapeForm.test(text)) return false
    at = escapeForm.lastIndex - 1
  }
  return false
}

const escapeForm = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const wordForm = /null|true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

function passWord(walk: Walk): boolean {
  wordForm.lastIndex = walk.at
  if (!wordForm.test(walk.text)) return false
  walk.at = wordForm.lastIndex
  return true
}

/** Behind the value that begins here, of a text that is JSON. */
export function endOf(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === quote) at = closingQuote(text, at)
    else if (sign === openObject || sign === openList) depth += 1
    else if (sign === closeObject || sign === closeList) depth -= 1
    if (depth === 0) return at + 1
  }
  return text.length
}

function closingQuote(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === quote) break
    if (sign === backslash) at += 1
  }
  return at
}

/** The same tokens without any white space, of a text that is JSON. */
export function withoutSpace(text: string): string {
  const out = openOutput()
  let from = 0
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === quote) at = closingQuote(text, at)
    else if (sign === space || sign === tab || sign === lineFeed || sign === carriageReturn) {
      if (at > from) out.put(text.slice(from, at))
      from = at + 1
    }
  }
  if (from === 0) return text
  out.put(text.slice(from))
  return out.all()
}

/** The same tokens two blanks a level and one item a line, of a text that is JSON; a line begins with `lineStart`. */
export function spacedOut(text: string, lineStart: string): string {
  const out = openOutput()
  let line = lineStart
  let from = 0
  const upTo = (end: number, more: string): void => {
    if (end > from) out.put(text.slice(from, end))
    if (more !== '') out.put(more)
    from = end
  }
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === quote) at = closingQuote(text, at)
    else if (sign === comma) upTo(at + 1, line)
    else if (sign === colon) upTo(at + 1, ' ')
    else if (sign === openObject || sign === openList) {
      const inside: Walk = { text, at: at + 1 }
      const isEmpty = signAt(inside) === (sign === openObject ? closeObject : closeList)
      if (isEmpty) {
        upTo(at + 1, '')
        from = inside.at
        at = inside.at
      } else {
        line += '  '
        upTo(at + 1, line)
      }
    } else if (sign === closeObject || sign === closeList) {
      line = line.slice(0, -2)
      upTo(at, line)
    } else if (sign === space || sign === tab || sign === lineFeed || sign === carriageReturn) {
      upTo(at, '')
      from = at + 1
    }
  }
  upTo(text.length, '')
  return out.all()
}

/** Pieces are put together from time to time: millions of them take more memory than the text. */
function openOutput() {
  let pieces: string[] = []
  const stretches: string[] = []
  return {
    put(piece: string): void {
      if (pieces.push(piece) < piecesAtMost) return
      stretches.push(pieces.join(''))
      pieces = []
    },
    all: (): string => [...stretches, ...pieces].join(''),
  }
}

const piecesAtMost = 4096
