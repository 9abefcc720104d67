// Hot files: what is held is given as it came or not at all, however often their memory went round.
import fc from 'fast-check'
import t from 'tap'
import { HotFiles } from '../../../../src/cache/content/store/hot-files.js'
import { bytesOf } from '../fake-remote.js'

t.test('a content is read as it was held last, or not at all', async () => {
  const name = fc.integer({ min: 0, max: 9 }).map(String)
  const step = fc.oneof(
    fc.record({ what: fc.constant('hold' as const), name, length: fc.nat(500), seed: fc.nat(255) }),
    fc.record({ what: fc.constant('read' as const), name, offset: fc.nat(600), length: fc.nat(600) }),
    fc.record({ what: fc.constant('drop' as const), name }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), steps => {
      const files = new HotFiles(1000)
      const last = new Map<string, Buffer>()
      for (const one of steps) {
        if (one.what === 'drop') {
          files.drop(one.name)
          last.delete(one.name)
        } else if (one.what === 'hold') {
          const bytes = bytesOf(one.length, one.seed)
          files.hold(one.name, bytes)
          last.set(one.name, bytes)
          const into = Buffer.alloc(one.length)
          if (one.length > 0 && files.read(one.name, 0, into) !== one.length) return false
        } else {
          const into = Buffer.alloc(one.length)
          const count = files.read(one.name, one.offset, into)
          const due = last.get(one.name)?.subarray(one.offset, one.offset + one.length)
          if (count !== undefined && due?.equals(into.subarray(0, count)) !== true) return false
        }
      }
      return true
    }),
    { numRuns: 2000 },
  )
})
