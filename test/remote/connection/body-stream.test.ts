// What a reader gets of a body is what came, in order, once; a failure or an end comes behind it.
import fc from 'fast-check'
import t from 'tap'
import { BodyStream } from '../../../src/remote/connection/body.js'

function openTried() {
  const said: string[] = []
  const stream = new BodyStream({
    abort: reason => void said.push(`abort ${reason.message}`),
    pause: () => void said.push('pause'),
    resume: () => void said.push('resume'),
  })
  return { stream, said }
}

async function readOn(stream: BodyStream): Promise<{ got: Buffer; end: string }> {
  const got: Uint8Array[] = []
  try {
    for await (const piece of stream) got.push(piece)
    return { got: Buffer.concat(got), end: 'end' }
  } catch (thrown) {
    return { got: Buffer.concat(got), end: String(thrown) }
  }
}

const turn = (): Promise<void> => new Promise(setImmediate)

t.test('in whatever pieces it comes, and however fast it is read', async () => {
  const piece = fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.boolean())
  const ends = fc.constantFrom('end', 'fail')
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 12 }),
      ends,
      fc.boolean(),
      async (pieces, how, readsFirst) => {
        const due = Buffer.concat(pieces.map(([bytes]) => bytes))
        const { stream } = openTried()
        const early = readsFirst ? readOn(stream) : undefined
        for (const [one, waits] of pieces) {
          stream.push(one)
          if (waits) await turn()
        }
        if (how === 'end') stream.end()
        else stream.fail(new Error('lost'))
        const { got, end } = await (early ?? readOn(stream))
        return got.equals(due) && end === (how === 'end' ? 'end' : 'Error: lost')
      },
    ),
    { numRuns: 300 },
  )
})

t.test('what is not read holds up the connection, until it is read', async t => {
  const { stream, said } = openTried()
  stream.push(Buffer.alloc(200_000))
  t.same(said, [])
  stream.push(Buffer.alloc(100_000))
  t.same(said, ['pause'])
  await stream.next()
  t.same(said, ['pause', 'resume'])
})

t.test('one that is cancelled ends the exchange, and its reader hears of it', async t => {
  const { stream, said } = openTried()
  const reading = readOn(stream)
  stream.push(Buffer.alloc(10))
  await turn()
  stream.cancel()
  stream.push(Buffer.alloc(10))
  stream.fail(new Error('late'))
  t.match(await reading, { end: 'Error: the reader stopped' })
  t.same(said, ['abort the reader stopped'])
  await t.rejects(stream.next(), { message: 'the reader stopped' })
})
