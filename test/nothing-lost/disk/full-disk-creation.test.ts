// A disk that is full when the answer to a POST comes: what was made is not made once more, whatever comes then.
import t, { type Test } from 'tap'
import { type Disk, smallDisk } from '../../testbed/disk/small-disk.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite } from '../../testbed/testbed.js'

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
    const testbed = await realMount(t, { settings: { access: 'manage', stateDir: disk.directory } })
    /** What comes after the save that failed, before the same one again. */
    const ends: Readonly<Record<string, () => unknown>> = {
      nothing: () => {},
      'an end in order': testbed.remount,
      async 'a kill'() {
        await testbed.kill9()
        await testbed.mount()
      },
    }
    for (const kind of kinds)
      for (const [end, come] of Object.entries(ends))
        for (const pages of [0, 2])
          await t.test(`NEW-10 ${kind.what} is made once, ${pages} pages left, then ${end}`, t =>
            madeOnce(t, { testbed, disk, kind, name: `${end.replaceAll(' ', '-')}-${pages}`, pages, come }),
          )
  })
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
  const mend = service.beforeAnswer(kind.post, () => disk.leave(pages))
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
