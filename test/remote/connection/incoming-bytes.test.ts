// What a reader gets of a body is what came, in order, once; a failure or an end comes behind it.
import fc from 'fast-check'
import t from 'tap'
import { IncomingBytes } from '../../../src/remote/connection/incoming-bytes.js'

function openTried(stated: number | undefined) {
  const said: string[] = []
  const bytes = new IncomingBytes(
    {
      abort: reason => void said.push(`abort ${reason.message}`),
      pause: () => void said.push('pause'),
      resume: () => void said.push('resume'),
    },
    stated,
  )
  return { bytes, said }
}

async function readOn(bytes: IncomingBytes): Promise<{ got: Buffer; end: string }> {
  const got: Buffer[] = []
  try {
    for (;;) {
      const piece = await bytes.next()
      if (piece === undefined) return { got: Buffer.concat(got), end: 'end' }
      got.push(Buffer.from(piece))
    }
  } catch (thrown) {
    return { got: Buffer.concat(got), end: String(thrown) }
  }
}

const turn = (): Promise<void> => new Promise(setImmediate)

t.test('in whatever pieces it comes, and however fast it is read', async () => {
  const piece = fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.boolean())
  const ends = fc.constantFrom('end', 'fail')
  const claims = fc.constantFrom('right', 'none', 'long')
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 12 }),
      ends,
      claims,
      fc.boolean(),
      async (pieces, how, claim, readsFirst) => {
        const due = Buffer.concat(pieces.map(([bytes]) => bytes))
        const stated = { right: due.length, none: undefined, long: 300_000 }[claim]
        const { bytes } = openTried(stated)
        const early = readsFirst ? readOn(bytes) : undefined
        for (const [one, waits] of pieces) {
          // undici's own memory, which it uses again.
          const lent = Uint8Array.from(one)
          bytes.push(lent)
          if (stated !== undefined && stated <= 256 * 1024) lent.fill(0)
          if (waits) await turn()
        }
        if (how === 'end') bytes.end()
        else bytes.fail(new Error('lost'))
        const { got, end } = await (early ?? readOn(bytes))
        return got.equals(due) && end === (how === 'end' ? 'end' : 'Error: lost') && bytes.closed
      },
    ),
    { numRuns: 300 },
  )
})

t.test('a short body is one piece, whose memory nothing else uses', async t => {
  const { bytes } = openTried(40_000)
  const reading = bytes.next()
  bytes.push(Buffer.alloc(30_000, 1))
  bytes.push(Buffer.alloc(10_000, 2))
  bytes.end()
  const piece = await reading
  t.equal(piece?.length, 40_000)
  t.equal(piece?.[29_999], 1)
  t.equal(piece?.[30_000], 2)
  t.equal(await bytes.next(), undefined)
  t.ok(bytes.closed)
})

t.test('a destroyed one ends the exchange, once, and its reader hears why', async t => {
  const { bytes, said } = openTried(100)
  let closes = 0
  bytes.onClose(() => {
    closes += 1
  })
  const reading = readOn(bytes)
  bytes.push(Buffer.alloc(10))
  await turn()
  bytes.destroy(new Error('the deadline'))
  bytes.destroy()
  bytes.fail(new Error('late'))
  t.match(await reading, { end: 'Error: the deadline' })
  t.same(said, ['abort the deadline'])
  t.equal(closes, 1)
  bytes.onClose(() => {
    closes += 1
  })
  t.equal(closes, 2, 'at once where it is closed')
  await t.rejects(async () => bytes.next(), { message: 'the deadline' })
})
