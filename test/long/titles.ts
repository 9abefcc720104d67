// Titles as services hold them: every byte, odd code points, lengths around the limit, normal forms, and names that are ours.
import type { Chance } from './chance.js'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const own = [
  ...words(`
    .project.json .calculation.json .index.tsv .shares .calcfs .#lock .fuse_hidden0001 .xyz new.json 42.json
    order.txt INDEX.tsv by-id db projects 4913 sedABCDEF #x# tmpabcdef .goutputstream-X XXabcdef . .. ...
    ~ ~p ~p1 ~c12 x~p12 x~c12 x~c12.xyz x~h0123456789abcdef x~~p1 x%7Ep1
    % %% %2 %2F %2f %25 %252F %empty %25empty %u %uD800 %u12
  `),
  ...['', ' ', '  ', '. ', ' .'],
]
const everywhere = words(
  `.hidden .git .Trash .DS_Store ._x CON a:b a\\b -rf * $HOME ; ' " ~root __proto__ constructor null 1e3`,
)
/** Letters that a normal form takes apart or puts together, joins, marks, directions, blanks. */
const odd = [
  ...'éﬁ가ßİ\u200b\u200d\ufeff\u202e\u00a0\u2028\ufffd\uffff\u{10ffff}\t\n\0\x7f',
  ...['e\u0301', '\u1100\u1161', '\ud800', '\udc00', '\udfff\ud800', '\x1b[31m'],
  ...['👩‍👩‍👧', '🏴\u{e0067}\u{e0062}\u{e007f}'],
]

/** Text with the same letters in one of the four normal forms. */
const normal = (pick: Chance, text: string): string =>
  text.normalize(pick.of(['NFC', 'NFD', 'NFKC', 'NFKD'] as const))

const codePoint = (pick: Chance): string => {
  const most = pick.of([0x7f, 0xff, 0x7ff, 0xffff, 0x10ffff])
  return String.fromCodePoint(pick.whole(0, most))
}

/** A title around 255 bytes, of letters of one to four bytes and of those that are escaped. */
function long(pick: Chance): string {
  const letters = pick.of([
    ['x'],
    ['ä'],
    ['日'],
    ['😀'],
    ['/'],
    ['%2F'],
    ['\n'],
    ['x', 'ä', '日', '😀', '/', ' ', '.'],
  ])
  const bytes = pick.once(4) ? pick.whole(500, 5_000) : pick.whole(228, 262)
  let text = ''
  for (let length = 0; length < bytes; ) {
    const letter = pick.of(letters)
    text += letter
    length += Buffer.byteLength(letter)
  }
  return pick.once(2) ? text : text + pick.of(['~c1', '.xyz', ' ', '.', '%', '\ud83d'])
}

function composed(pick: Chance): string {
  const parts = Array.from({ length: pick.whole(1, 5) }, () =>
    pick.of([
      () => pick.of(odd),
      () => pick.of(own),
      () => pick.word(1, 8),
      () => codePoint(pick),
      () => pick.of(everywhere),
      () => pick.of(['/', '%', '.', ' ', '~']),
    ])(),
  )
  return parts.join('')
}

export function anyTitle(pick: Chance): string {
  const text = pick.of([
    () => pick.of(own),
    () => pick.of(everywhere),
    () => pick.of(odd),
    () => pick.of(['', 'x', 'x', 'x x']) + String.fromCharCode(pick.whole(0, 255)) + pick.of(['', 'x', 'y']),
    () => Array.from({ length: pick.whole(1, 12) }, () => codePoint(pick)).join(''),
    () => long(pick),
    () => composed(pick),
    () => composed(pick),
    () => `${pick.of(own)}${pick.of(odd)}`,
    () => pick.word(1, 30),
  ])()
  return pick.once(4) ? normal(pick, text) : text
}
