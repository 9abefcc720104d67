// A disk that is full when the answer to a POST comes: what was made is not made once more, whatever comes then.
import t, { type Test } from 'tap'
import { type Disk, smallDisk } from '../../testbed/disk/small-disk.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(240_000)

/** Each end after each number of pages; without this, an end that is a kill, which costs a daemon, after one of them. */
const isFull = process.env['CALCFS_TEST_FULL'] !== undefined
const shares = 'projects/Water splitting/.shares'

interface Kind {
  readonly what: string
  readonly post: RegExp
  path(name: string): string
  text(name: string): string
}

const kinds: readonly Kind[] = [
  {
    what: 'a report',
    post: /^POST \/report$/,
    path: name => `reports/new-${name}.json`,
    text: name => JSON.stringify({ title: `Report ${name}`, reportType: '1', calculations: [1234] }),
  },
  {
    what: 'a share',
    post: /^POST \/project\/share$/,
    path: name => `${shares}/new-${name}.json`,
    text: () => JSON.stringify({ user: 'guest', permission: 'READ' }),
  },
]

if (process.platform === 'linux' && process.getuid?.() === 0) {
  t.test('a disk that is full when the answer comes', async t => {
    const disk = await smallDisk(t)
    const wish = { settings: { access: 'manage', stateDir: disk.directory } }
    const warm = await warmMount(t, wish)
    await madeOnceEach(t, { testbed: warm, disk }, { nothing: () => {}, 'an end in order': warm.remount })
    await warm.end()
    const daemon = await realMount(t, wish, warm)
    await madeOnceEach(
      t,
      { testbed: daemon, disk },
      {
        async 'a kill'() {
          await daemon.kill9()
          await daemon.mount()
        },
        async 'a kill and an end in order'() {
          await daemon.kill9()
          await daemon.mount()
          // At another mount point the name would be free.
          await daemon.remount()
        },
      },
    )
  })
}

/** `ends`: what comes after the save that failed, before the same one again. */
async function madeOnceEach(
  t: Test,
  on: { readonly testbed: KernelTestbed; readonly disk: Disk },
  ends: Readonly<Record<string, () => unknown>>,
): Promise<void> {
  for (const kind of kinds)
    for (const [end, come] of Object.entries(ends))
      for (const pages of isFull ? [0, 2] : (pagesBefore[end] ?? [0, 2]))
        await t.test(`NEW-10 ${kind.what} is made once, ${pages} pages left, then ${end}`, t =>
          madeOnce(t, { ...on, kind, name: `${end.replaceAll(' ', '-')}-${pages}`, pages, come }),
        )
}

/** Where not each number of pages that are left is tried. */
const pagesBefore: Readonly<Record<string, readonly number[]>> = {
  'a kill': [0],
  'a kill and an end in order': [2],
}

interface Case {
  readonly testbed: KernelTestbed
  readonly disk: Disk
  readonly kind: Kind
  readonly name: string
  readonly pages: number
  readonly come: () => unknown
}

async function madeOnce(t: Test, { testbed, disk, kind, name, pages, come }: Case): Promise<void> {
  const { service } = testbed
  const [path, text] = [kind.path(name), kind.text(name)]
  if (kind.what === 'a share') await namesOf(testbed, shares)
  const mend = service.intercept(kind.post, async (_, { carryOut }) => {
    const passOn = await carryOut()
    await disk.leave(pages)
    passOn()
  })
  const asked = await service.during(async () => {
    const first = await outcome(overwrite(testbed, path, text))
    mend()
    await disk.makeRoom()
    await come()
    const again = await outcome(overwrite(testbed, path, text))
    const drafts = await namesOf(testbed, '.calcfs/drafts')
    t.comment(`${first}, then ${again}`)
    if (again === 'done') t.same(drafts, [], 'saved, and no draft is left')
    else {
      t.equal(again, 'EIO')
      t.ok(drafts.includes(`new-${name}.json.why`), 'what may have been made is a draft that says so')
      await testbed.files.unlink(`.calcfs/drafts/new-${name}.json`)
    }
  })
  t.equal(writes(asked).filter(request => request.startsWith('POST')).length, 1)
  const given: { shareId: number }[] = JSON.parse(
    await service.elsewhere('GET', `/project/share?id=${ids.water}`),
  )
  for (const { shareId } of given) await service.elsewhere('DELETE', `/project/share?shareId=${shareId}`)
}
