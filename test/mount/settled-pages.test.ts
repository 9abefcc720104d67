// READ-13: after a path has got another version, a second open is not answered before the pages of the first one are new.
import t from 'tap'
import type { OpenAccess } from '../../src/drive/interface/verbs.js'
import { withSettledPages } from '../../src/mount/settled-pages.js'
import type { ByteOffset } from '../../src/remote/remote.js'
import { hastyClock } from '../testbed/clocks.js'

const path = '/data.log'

/** A file whose handles read the version that it has when they are opened. */
function oneFile() {
  const versions = ['']
  const clock = hastyClock()
  let version = 'first'
  const verbs = withSettledPages(
    {
      open: (_path: string, access: OpenAccess) => versions.push(access === 'write-only' ? '' : version) - 1,
      versionOf: (handle: number) => versions[handle] || undefined,
      read: async (_handle: number, _target: Uint8Array, _offset: ByteOffset) => 0,
      flush: async (_handle: number) => {},
      release: async (_handle: number) => {},
    },
    clock,
  )
  return {
    clock,
    verbs,
    replace(name: string) {
      version = name
    },
  }
}

const isPending = (answer: unknown): Promise<boolean> =>
  Promise.race([
    Promise.resolve(answer).then(() => false),
    new Promise<true>(wake => setImmediate(wake, true)),
  ])

for (const proof of ['read', 'flush', 'release'] as const) {
  t.test(`READ-13 the second open of a new version waits for the first one's ${proof}`, async t => {
    const { verbs, replace } = oneFile()
    await verbs.open(path, 'read')
    t.notOk(await isPending(verbs.open(path, 'read')), 'nothing is new')
    replace('second')
    const first = verbs.open(path, 'read')
    t.notOk(await isPending(first))
    const others = [verbs.open(path, 'read'), verbs.open(path, 'write')]
    for (const other of others) t.ok(await isPending(other))
    t.notOk(await isPending(verbs.open(path, 'write-only')), 'nothing is read through it')
    t.notOk(await isPending(verbs.open('/other.log', 'read')))
    if (proof === 'read') await verbs.read(await first, Buffer.alloc(1), 0 as ByteOffset)
    else await verbs[proof](await first)
    for (const other of others) t.notOk(await isPending(other))
    t.notOk(await isPending(verbs.open(path, 'read')))
  })
}

t.test(
  'READ-13 a program that opens and does nothing holds the others up for a tenth of a second',
  async t => {
    const { verbs, replace } = oneFile()
    await verbs.open(path, 'read')
    replace('second')
    await verbs.open(path, 'read')
    const began = Date.now()
    await verbs.open(path, 'read')
    t.ok(Date.now() - began >= 90 && Date.now() - began < 5_000)
  },
)
