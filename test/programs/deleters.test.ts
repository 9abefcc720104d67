// Real programs that delete, on a real mount: of a project none takes anything, of a calculation each takes that one.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { type MountTestbed, realMount } from '../testbed/mount.js'
import { shell } from '../testbed/programs.js'
import { writes } from '../testbed/service.js'
import { outcome } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

/** The command of each to delete the directory `$1` with its contents; `$2` is an empty directory elsewhere. */
const deleters: Readonly<Record<string, string>> = {
  rm: 'rm -rf "$1"',
  'find -delete': 'find "$1" -delete',
  'find, files before directories':
    'find "$1" ! -type d -exec rm -f {} +; find "$1" -depth -type d -exec rmdir {} +',
  'rmdir from above, then rm': 'find "$1" -type d -exec rmdir {} \\;; rm -rf "$1"',
  'xargs, backwards': 'find "$1" | sort -r | tr "\\n" "\\0" | xargs -0 -n 1 rm -d',
  'xargs, three at once': 'find "$1" -depth -print0 | xargs -0 -P 3 -n 1 rm -d',
  busybox: 'busybox rm -rf "$1"',
  perl: 'perl -MFile::Path=remove_tree -e "remove_tree(shift)" "$1"',
  'perl finddepth': `perl -MFile::Find -e 'finddepth(sub { -d $_ && !-l $_ ? rmdir : unlink }, shift)' "$1"`,
  rmtree: `/usr/bin/python3 -c 'import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)' "$1"`,
  'os.walk from below': `/usr/bin/python3 -c '
import os, sys
def tried(work, path):
    try: work(path)
    except OSError: pass
for at, folders, files in os.walk(sys.argv[1], topdown=False):
    for name in files: tried(os.unlink, os.path.join(at, name))
    for name in folders: tried(os.rmdir, os.path.join(at, name))
tried(os.rmdir, sys.argv[1])' "$1"`,
  node: `node -e 'fs.rmSync(process.argv[1], { recursive: true, force: true })' "$1"`,
  emacs: 'emacs --batch --eval "(delete-directory (pop command-line-args-left) t)" "$1"',
  'emacs, backwards': `emacs --batch --eval '
(let ((top (pop command-line-args-left)))
  (dolist (file (append (reverse (directory-files-recursively top "" t)) (list top)))
    (ignore-errors (if (file-directory-p file) (delete-directory file) (delete-file file)))))' "$1"`,
  'gio remove, backwards': 'find "$1" | sort -r | tr "\\n" "\\0" | xargs -0 gio remove -f',
  'gio trash': 'gio trash "$1"',
  'rsync --delete': 'rsync -r --delete "$2/" "$1/"; rmdir "$1"',
  'rsync --delete-before': 'rsync -r --delete-before --ignore-errors "$2/" "$1/"; rmdir "$1"',
  'tar --remove-files': 'tar -cf /dev/null --remove-files "$1"',
  mv: 'mv "$1" "$2/moved"',
  'git clean': 'git init -q "$2"; git --git-dir="$2/.git" --work-tree="$1" clean -fdxq; rmdir "$1"',
}

/** These leave a file or the directory of a calculation on any file system: nothing is deleted then. */
const leaveSomething = new Set(['gio trash', 'perl finddepth'])
/** Its last rmdir may come before the last file is gone. */
const isRace = (name: string): boolean => name === 'xargs, three at once'

async function run(testbed: MountTestbed, line: string, path: string): Promise<void> {
  const empty = join(testbed.local, `empty ${Math.random()}`)
  await mkdir(empty)
  await shell(`set -- "${path}" "${empty}"; ${line}`, testbed.directory)
}

const files = { 'input.inp': '! opt\n', 'output.log': 'done\n', '.hidden': 'x\n' }

t.jobs = 2

t.test('DEL-4 of a project, and of one with a single calculation, no deleter takes anything', async t => {
  const names = Object.keys(deleters)
  /** Every second one goes by the project's number. */
  const paths = new Map<string, string>()
  const testbed = await realMount(t, {
    settings: { access: 'manage', maxDeletes: '1000' },
    adds(seed) {
      for (const [at, name] of names.entries()) {
        const project = seed.addProject({ name: `P ${name}`, owner: 'demo' })
        paths.set(name, at % 2 === 0 ? `projects/P ${name}` : `by-id/project/${project}`)
        const below = seed.addProject({ name: 'below', owner: 'demo', parent: project })
        seed.addProject({ name: 'empty', owner: 'demo', parent: project })
        seed.addShare({ project, user: 'guest', permission: 'READ' })
        for (const at of [1, 2]) seed.addCalculation({ name: `C${at}`, project, files })
        seed.addCalculation({ name: 'D', project: below, files })
        const one = seed.addProject({ name: `One ${name}`, owner: 'demo' })
        seed.addCalculation({ name: 'only', project: one, files })
      }
    },
  })
  const asked = await testbed.service.during(async () => {
    for (const line of names) {
      await run(testbed, deleters[line] ?? '', paths.get(line) ?? '')
      await run(testbed, deleters[line] ?? '', `projects/One ${line}`)
    }
    await testbed.pass(4_000)
  })
  t.same(writes(asked), [])
  for (const name of names) {
    t.equal((await testbed.files.readdir(`projects/P ${name}`)).size, 7, name)
    t.ok((await testbed.files.readdir(`projects/P ${name}/C1`)).has('output.log'), name)
    t.ok((await testbed.files.readdir(`projects/One ${name}/only`)).has('.hidden'), name)
  }
})

t.test('DEL-1 of a calculation each deleter takes the whole, by one DELETE', async t => {
  const names = Object.keys(deleters).filter(name => !isRace(name))
  const ids = new Map<string, string>()
  const testbed = await realMount(t, {
    settings: { access: 'manage', maxDeletes: '1000' },
    adds(seed) {
      const project = seed.addProject({ name: 'Many', owner: 'demo' })
      for (const name of [...names, 'one more']) ids.set(name, seed.addCalculation({ name, project, files }))
    },
  })
  const taken = names.filter(name => !leaveSomething.has(name))
  const deletions = () => testbed.service.heard.filter(({ method }) => method === 'DELETE').length
  const asked = await testbed.service.during(async () => {
    for (const name of names) await run(testbed, deleters[name] ?? '', `projects/Many/${name}`)
    await testbed.pass(4_000)
    // A busy machine sends them later; one more than these is seen all the same.
    await until(30_000, 'the deletions', () => deletions() >= taken.length)
  })
  const wanted = taken.map(name => `DELETE /calculation?id=${ids.get(name)}`)
  t.same([...writes(asked)].sort(), wanted.sort())
  for (const name of names)
    t.equal(
      await outcome(testbed.files.lstat(`projects/Many/${name}`)),
      leaveSomething.has(name) ? 'done' : 'ENOENT',
      name,
    )
})
