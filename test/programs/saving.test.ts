// Common editors save a report: each save is one logical update, and leaves nothing on the service.
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type MountTestbed, realMount } from '../testbed/mount.js'
import { printed, python, shell } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { terminal } from '../testbed/terminal.js'
import { namesOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const report = `reports/${ids.report}.json`

/** A program that gives the report a new title: `new` is its title, `file` the report, `copy` a local file. */
const savings: readonly (readonly [name: string, line: string])[] = [
  ['sed -i', `sed -i 's/"title": "[^"]*",$/"title": "'"$new"'",/' "$file"`],
  ['perl -i', `perl -i -pe 's/"title": "[^"]*",$/"title": "$ENV{new}",/' "$file"`],
  ['mv from another file system', `mv "$copy" "$file"`],
  ['cp', `cp "$copy" "$file"`],
  ['cp with the old file taken away first', `cp --remove-destination "$copy" "$file"`],
  ['tee', `tee "$file" < "$copy" > /dev/null`],
  ['dd conv=fsync', `dd if="$copy" of="$file" conv=fsync bs=64 status=none`],
  ['a shell redirection', `cat "$copy" > "$file"`],
  ['emptied, then appended to', `: > "$file"; cat "$copy" >> "$file"`],
  ['rsync', `rsync "$copy" "$file"`],
  ['rsync --inplace', `rsync --inplace "$copy" "$file"`],
  ['vim -es', `vim -es -u NONE -c '%s/"title": "[^"]*",$/"title": "'"$new"'",/' -c 'wq' "$file"`],
  [
    'vim with a backup, a swap file and undo',
    `vim -es -u NONE -c 'set backupskip= backup writebackup swapfile undofile' -c '%s/"title": "[^"]*",$/"title": "'"$new"'",/' -c 'wq' "$file"`,
  ],
  [
    'vim with backupcopy=yes',
    `vim -es -u NONE -c 'set backupskip= backupcopy=yes' -c '%s/"title": "[^"]*",$/"title": "'"$new"'",/' -c 'wq' "$file"`,
  ],
  [
    'vim with backupcopy=no',
    `vim -es -u NONE -c 'set backupskip= backupcopy=no' -c '%s/"title": "[^"]*",$/"title": "'"$new"'",/' -c 'wq' "$file"`,
  ],
  [
    'python with json.dump',
    `${python} -c 'import json,os
report = json.load(open(os.environ["file"])); report["title"] = os.environ["new"]
json.dump(report, open(os.environ["file"], "w"), indent=1)'`,
  ],
  [
    'python with small writes and fsync between them',
    `${python} -c 'import json,os
text = open(os.environ["copy"]).read()
with open(os.environ["file"], "w") as out:
    for at in range(0, len(text), 50):
        out.write(text[at:at+50]); out.flush(); os.fsync(out.fileno())'`,
  ],
  [
    'python with a temporary file and os.replace',
    `${python} -c 'import os,tempfile
fresh = tempfile.NamedTemporaryFile("w", dir=os.path.dirname(os.environ["file"]), delete=False)
fresh.write(open(os.environ["copy"]).read()); fresh.close(); os.replace(fresh.name, os.environ["file"])'`,
  ],
]

t.setTimeout(360_000)

t.test('programs that save', async t => {
  const testbed = await realMount(t)
  for (const [at, [name, line]] of savings.entries()) {
    t.test(`${name} is one update`, t => saves(t, testbed, { line, title: `Title ${at} of ${name}` }))
  }

  t.test('a mapping is saved when the file is closed', async t => {
    const script = `import mmap, sys
with open(sys.argv[1], 'r+b') as file, mmap.mmap(file.fileno(), 0) as text:
    at = text.find(b'"title": "') + 10
    text[at:at + 5] = b'MMAP!'`
    const sent = await testbed.service.during(async () => {
      await printed(python, ['-c', script, join(testbed.directory, report)])
      await until(10_000, 'the save of the mapping', async () =>
        (await titleThere(testbed)).startsWith('MMAP!'),
      )
    })
    t.same(writes(sent), ['PUT /report'])
  })

  t.test('vim on a terminal saves twice without a question', async t => {
    const tmux = await terminal(t, `vim -u NONE '${join(testbed.directory, report)}'`)
    await tmux.until(/"title"/)
    for (const title of ['First of vim', 'Second of vim']) {
      await tmux.type(`:%s/"title": "[^"]*",$/"title": "${title}",/`, ':w')
      await until(10_000, title, async () => (await titleThere(testbed)) === title)
      t.notMatch(await tmux.screen(), /WARNING|E\d+:/)
    }
    await tmux.type(':q')
    await tmux.ended()
  })

  t.test('nano saves what was typed', async t => {
    // The service's wording of what vim saved moves the time by a second, and nano asks about that.
    await until(10_000, 'the wording of the service', async () => {
      const shown = modified(await readFile(join(testbed.directory, report), 'utf8'))
      return shown === modified(await textThere(testbed))
    })
    const tmux = await terminal(t, `nano -I '${join(testbed.directory, report)}'`)
    await tmux.until(/"title"/)
    // Keys that come before their prompt go into the text.
    await tmux.keys('C-\\')
    await tmux.until(/^Search \(to replace\)/m)
    await tmux.type('Second of vim')
    await tmux.until(/^Replace with/m)
    await tmux.type('First of nano')
    await tmux.until(/^Replace this instance/m)
    await tmux.keys('a')
    await tmux.until(/Replaced 1 occurrence/)
    await tmux.keys('C-o')
    await tmux.until(/^File Name to Write/m)
    await tmux.keys('Enter')
    await tmux.until(/\[ Wrote \d+ lines \]/)
    await until(10_000, 'nano', async () => (await titleThere(testbed)) === 'First of nano')
    await tmux.keys('C-x')
    await tmux.ended()
  })

  t.test(
    'opened for writing and closed unchanged is no request, nor is cutting to its own length',
    async t => {
      const sent = await testbed.service.during(async () => {
        await shell(`exec 3<>"${report}"; exec 3>&-`, testbed.directory)
        await shell(
          `cat "${report}" > ${testbed.local}/same && cp ${testbed.local}/same "${report}"`,
          testbed.directory,
        )
        await shell(`truncate -s $(stat -c %s ${report}) ${report}; touch ${report}`, testbed.directory)
      })
      t.same(writes(sent), [])
    },
  )

  t.test(
    'TIME-2 vim asks nothing where it has opened the record right after another vim saved it',
    async t => {
      const file = join(testbed.directory, report)
      const change = `%s/"title": "[^"]*"/"title": "'"$title"'"/`
      const vim = `vim -es -u NONE -i NONE -c "sleep $wait" -c '${change}' -c wq "$file" </dev/null`
      for (const wait of ['100m', '1', '2', '3'])
        for (const [at, title] of [`First of ${wait}`, `After ${wait}`].entries()) {
          await printed('bash', ['-c', vim], { environment: { file, title, wait: at === 0 ? '1m' : wait } })
          t.equal(await titleThere(testbed), title)
        }
    },
  )

  t.test('a file cannot be copied into a calculation, and cp says so', async t => {
    const { code, stderr } = await shell(
      "cp /etc/hostname 'projects/Water splitting/TS1_opt/'",
      testbed.directory,
    )
    t.equal(code, 1)
    t.match(stderr, /not permitted/)
  })

  t.test('nothing is left behind but the undo file and the backup that vim is set to keep', async t => {
    const kept = [
      `.${ids.report}.json.un~`,
      `${ids.report}.json~`,
      ids.report,
      `${ids.report}.json`,
      'INDEX.tsv',
      'by-name',
    ].sort()
    const there = () => namesOf(testbed, 'reports')
    await until(10_000, 'editors have cleaned up', async () => (await there()).length === kept.length)
    t.same(await there(), kept)
    t.same(await namesOf(testbed, '.calcfs/drafts'), [])
  })
})

async function saves(
  t: Test,
  testbed: MountTestbed,
  { line, title }: { line: string; title: string },
): Promise<void> {
  const file = join(testbed.directory, report)
  const copy = join(testbed.local, 'new.json')
  await copyFile(file, copy)
  await writeFile(
    copy,
    (await readFile(copy, 'utf8')).replace(/"title": "[^"]*",\n/, `"title": "${title}",\n`),
  )
  const sent = await testbed.service.during(async () => {
    await printed('bash', ['-c', line], { environment: { new: title, file, copy } })
  })
  t.same(writes(sent), ['PUT /report'])
  t.equal(await titleThere(testbed), title)
  t.equal(JSON.parse(await readFile(file, 'utf8')).title, title)
}

const textThere = ({ service }: MountTestbed): Promise<string> =>
  service.elsewhere('GET', `/report?id=${ids.report}`)

const titleThere = async (testbed: MountTestbed): Promise<string> =>
  JSON.parse(await textThere(testbed)).title

const modified = (text: string): string => JSON.parse(text).modificationDate
