// Editors on a terminal that stay open: the second save asks nothing, and what others changed meanwhile is not undone.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { KernelTestbed } from '../testbed/mount.js'
import { shell } from '../testbed/programs.js'
import type { ReceivedRequest } from '../testbed/proxy.js'
import { writes } from '../testbed/service.js'
import { type Terminal, terminal } from '../testbed/terminal.js'
import { namesOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until } from '../testbed/within.js'

const programs = ['emacs', 'vim', 'nano'] as const
type Program = (typeof programs)[number]

const idOf = (program: Program): string => String(400 + programs.indexOf(program))
const nameOf = (program: Program): string => `${idOf(program)}.json`

/** For so long a program's own wording may be shown after a save; an editor must not see the file change after it either. */
const leaseMs = 2500

// Each has a report of its own, and mostly waits.
t.test('editors that stay open', { jobs: 4 }, async t => {
  const testbed = await warmMount(t, {
    adds(seed) {
      for (const program of programs)
        seed.addReport({ id: idOf(program), name: program, title: 'Before', owner: 'demo' })
    },
  })
  const fileOf = (program: Program): string => join(testbed.directory, 'reports', nameOf(program))

  t.test('emacs saves twice without a question, with its lock, its auto-save and its backup', async t => {
    const settings = `(setq backup-enable-predicate (lambda (_) t) suggest-key-bindings nil)`
    const emacs = await terminal(t, `emacs -nw -Q --eval '${settings}' '${fileOf('emacs')}'`)
    await emacs.until(/"Before"/)
    await twice(t, testbed, 'emacs', async title => {
      await emacs.keys('M-<', 'M-x')
      await emacs.type('replace-regexp', '"title": ".*",', `"title": "${title}",`)
      await emacs.until(/Replaced 1 occurrence/)
      await emacs.keys('M-x')
      await emacs.type('do-auto-save')
      await until(10_000, 'the auto-save', async () =>
        (await namesOf(testbed, 'reports')).includes(`#${nameOf('emacs')}#`),
      )
      t.match(await testbed.files.readlink(`reports/.#${nameOf('emacs')}`), /@.*\.\d+/, 'its lock')
      const other = await shell(`emacs -Q --batch '${fileOf('emacs')}' --eval '(insert "x")'`, testbed.local)
      t.match(other.stderr, /locked by/, 'another emacs reports it')
      await emacs.keys('C-x', 'C-s')
      await emacs.until(/Wrote /)
      t.notMatch(await emacs.screen(), /changed on disk|locked/)
    })
    await emacs.keys('C-x', 'C-c')
    await emacs.ended()
    t.same(await beside(testbed, 'emacs'), [nameOf('emacs'), `${nameOf('emacs')}~`])
  })

  t.test('vim saves twice without a question, with a backup, a swap file and an undo file', async t => {
    const vim = await terminal(t, `vim -u NONE '${fileOf('vim')}'`)
    await vim.until(/"Before"/)
    await vim.type(':set backupskip= backup backupcopy=auto swapfile undofile')
    await twice(t, testbed, 'vim', title => save(vim, title))
    t.notMatch(await vim.screen(), /WARNING|E\d+:/)
    await vim.type(':q')
    await vim.ended()
    const name = nameOf('vim')
    t.same(await beside(testbed, 'vim'), [`.${name}.un~`, name, `${name}~`])
  })

  t.test('nano saves twice without a question, with a backup', async t => {
    const nano = await terminal(t, `nano -I -B '${fileOf('nano')}'`)
    await nano.until(/"Before"/)
    let old = 'Before'
    await twice(t, testbed, 'nano', async title => {
      // It forgets keys that were typed ahead of a question.
      await nano.keys('C-\\')
      await nano.until(/Search \(to replace\)/)
      await nano.type(old)
      await nano.until(/Replace with/)
      await nano.type(title)
      await nano.until(/Replace this instance/)
      await nano.keys('a')
      await nano.until(/Replaced 1 occurrence/)
      await nano.keys('C-o')
      await nano.until(/File Name to Write/)
      await nano.keys('Enter')
      old = title
    })
    await nano.keys('C-x')
    await nano.ended()
    t.same(await beside(testbed, 'nano'), [nameOf('nano'), `${nameOf('nano')}~`])
  })
})

/** Saves, waits until the drive shows the service's own wording, and saves again: two updates and no more. */
async function twice(
  t: Test,
  testbed: KernelTestbed,
  program: Program,
  edit: (title: string) => Promise<unknown>,
): Promise<void> {
  for (const place of ['First', 'Second']) {
    const sent = await during(testbed, program, async () => {
      const title = `${place} of ${program}`
      await edit(title)
      await until(10_000, title, async () => (await recordOf(testbed, program)).title === title)
      await testbed.pass(leaseMs)
    })
    t.same(writes(sent), ['PUT /report'], place)
  }
}

/** What was sent about this program's report meanwhile. */
async function during(
  { service }: KernelTestbed,
  program: Program,
  work: () => Promise<unknown>,
): Promise<readonly ReceivedRequest[]> {
  const isOurs = new RegExp(`(\\bid=|"id":)${idOf(program)}\\b`)
  return (await service.during(work)).filter(({ path, body }) => isOurs.test(`${path} ${body}`))
}

async function save(vim: Terminal, title: string): Promise<void> {
  await vim.type(`:%s/"title": ".*",$/"title": "${title}",/`, ':w')
}

const recordOf = async ({ service }: KernelTestbed, program: Program): Promise<{ readonly title: string }> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${idOf(program)}`))

/** The record's file and whatever else has its name in its own. */
const beside = async (testbed: KernelTestbed, program: Program): Promise<readonly string[]> =>
  (await namesOf(testbed, 'reports')).filter(name => name.includes(nameOf(program)))
