// Streaming list parser: item by item while the text arrives, so that a long one is never held whole.
import { Failure } from '../../failure.js'
import { backslash, closeList, closeObject, comma, openList, openObject, quote } from './walk.js'

/** Takes a text in pieces and makes something of it at its end. */
export interface TextReader<Value> {
  /** Never throws: what is wrong with the text is said at its end. */
  take(piece: string): void
  /** @throws Failure 'broken' for a text that is not what is due */
  end(): Value
  /** About how many bytes that takes which was made of the text so far, where it may be much. */
  readonly held?: number
}

type ItemPosition = 'before' | 'first' | 'next' | 'item' | 'behind' | 'wrong'

/** Tells of the text of each item of a JSON list, in order; whether an item is JSON is for its reader to say. */
export function itemReader<Value>(
  item: (text: string) => void,
  { done, wrong }: { done: () => Value; wrong: (said: string) => Failure },
): TextReader<Value> {
  let place: ItemPosition = 'before'
  let failure: Failure | undefined
  // The beginning of an item whose end has not arrived yet.
  let begun = ''
  let depth = 0
  let inString = false
  let escaped = false
  let said = ''

  /** From `from` on, where the item ends; -1 where it goes on behind this piece. */
  function endOfItem(piece: string, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      const sign = piece.charCodeAt(at)
      if (inString) {
        if (escaped) escaped = false
        else if (sign === backslash) escaped = true
        else if (sign === quote) inString = false
      } else if (sign === quote) inString = true
      else if (sign === openObject || sign === openList) depth += 1
      else if (depth > 0 && (sign === closeObject || sign === closeList)) depth -= 1
      else if (depth === 0 && (sign === comma || sign === closeList)) return at
    }
    return -1
  }

  function through(piece: string): void {
    for (let at = 0; at < piece.length; ) {
      if (place === 'item') {
        const end = endOfItem(piece, at)
        if (end < 0) {
          begun += piece.slice(at)
          return
        }
        item(begun + piece.slice(at, end))
        begun = ''
        place = piece[end] === ']' ? 'behind' : 'next'
        at = end + 1
        continue
      }
      const sign = piece[at] ?? ''
      if (!/[ \t\n\r\uFEFF]/.test(sign)) {
        place = after(sign)
        if (place === 'wrong') throw wrong(said)
        if (place === 'item') continue
      }
      at += 1
    }
  }

  function after(sign: string): ItemPosition {
    if (place === 'before') return sign === '[' ? 'first' : 'wrong'
    if (place === 'first' && sign === ']') return 'behind'
    if (place === 'behind' || sign === ',' || sign === ']') return 'wrong'
    return 'item'
  }

  return {
    take(piece) {
      if (failure !== undefined) return
      if (said.length < saidAtMost) said += piece.slice(0, saidAtMost - said.length)
      try {
        through(piece)
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown
        failure = thrown
        begun = ''
      }
    },
    end() {
      if (failure !== undefined) throw failure
      if (place !== 'behind') throw wrong(said)
      return done()
    },
  }
}

/** Characters of a wrong answer that are shown to people. */
const saidAtMost = 300
