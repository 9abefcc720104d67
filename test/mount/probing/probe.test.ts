// Promises of a path without its links: the same with and without the system's own program for it.
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { withoutLinks } from '../../../src/mount/probe.js'

t.setTimeout(60_000)

t.test('a path is told without links as far as it exists, whatever programs the system has', async t => {
  const top = await realpath(t.testdir())
  await mkdir(join(top, 'real', 'a b\n'), { recursive: true })
  await writeFile(join(top, 'real', 'a b\n', '-file'), '')
  await symlink('real', join(top, 'link'))
  await symlink('nowhere', join(top, 'real', 'dangling'))
  const expected = {
    [join(top, 'link')]: join(top, 'real'),
    [join(top, 'link', 'a b\n', '-file')]: join(top, 'real', 'a b\n', '-file'),
    [join(top, 'link', 'a b\n')]: join(top, 'real', 'a b\n'),
    [join(top, 'link', 'missing', 'too')]: join(top, 'real', 'missing', 'too'),
    [join(top, 'link', 'dangling')]: join(top, 'real', 'dangling'),
  }
  const told = async () =>
    Object.fromEntries(
      await Promise.all(Object.keys(expected).map(async path => [path, await withoutLinks(path, 20_000)])),
    )
  t.same(await told(), expected)
  const { PATH } = process.env
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
  process.env['PATH'] = top
  t.same(await told(), expected, 'without any program')
})
