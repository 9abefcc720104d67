// Programs save a report through its link in reports/by-name: it arrives, or the program says that it did not, and nothing is lost.
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { realMount } from '../testbed/mount.js'
import { python, shell } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { namesOf, textOf } from '../testbed/testbed.js'

const report = `reports/${ids.report}.json`

/** `file` is the link, `copy` a local text with the title `new`. */
const through: readonly (readonly [name: string, line: string])[] = [
  ['cp', `cp "$copy" "$file"`],
  ['a shell redirection', `cat "$copy" > "$file"`],
  ['rsync --inplace --copy-links', `rsync --inplace --keep-dirlinks "$copy" "$(readlink -f "$file")"`],
  ['vim', `vim -es -u NONE -c '%s/"title": "[^"]*",$/"title": "'"$new"'",/' -c 'wq' "$file"`],
  [
    'vim that keeps backups',
    `vim -es -u NONE -c 'set backup backupskip= writebackup' -c '%s/"title": "[^"]*",$/"title": "'"$new"'",/' -c 'wq' "$file"`,
  ],
  [
    'python',
    `${python} -c 'import os; open(os.environ["file"], "w").write(open(os.environ["copy"]).read())'`,
  ],
  ['sed --follow-symlinks', `sed -i --follow-symlinks 's/"title": "[^"]*",$/"title": "'"$new"'",/' "$file"`],
]

/** They would put a file in the place of the link. */
const inItsPlace: readonly (readonly [name: string, line: string])[] = [
  ['sed -i', `sed -i 's/"title": "[^"]*",$/"title": "'"$new"'",/' "$file"`],
  ['mv', `mv "$copy" "$file"`],
  ['mv -f', `mv -f "$copy" "$file"`],
  ['rsync', `rsync "$copy" "$file"`],
  ['cp --remove-destination', `cp --remove-destination "$copy" "$file"`],
  ['ln -sf', `ln -sf /etc/hostname "$file"`],
  ['rm -f', `rm -f "$file"`],
]

t.test('LIST-8 programs save through a link by name', async t => {
  const testbed = await realMount(t, { settings: { access: 'manage' } })
  const { directory } = testbed
  const copy = join(testbed.local, 'copy.json')
  const titleOf = (text: string): string => JSON.parse(text).title
  const stored = async (): Promise<string> =>
    titleOf(String(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`)))

  async function run(line: string, fresh: string): Promise<{ code: number | null; stderr: string }> {
    const text = await textOf(testbed, report)
    await writeFile(copy, text.replace(`"title": ${JSON.stringify(titleOf(text))}`, `"title": "${fresh}"`))
    const file = join(directory, `reports/by-name/${titleOf(text)}.json`)
    await copyFile(copy, `${copy}.kept`)
    const variables = Object.entries({ file, copy, new: fresh }).map(([name, value]) => `${name}='${value}'`)
    return shell(`export ${variables.join(' ')}; ${line}`, directory)
  }

  let count = 0
  for (const [name, line] of through) {
    await t.test(name, async t => {
      count += 1
      // Each of another length: rsync passes by a file of the same size and second.
      const fresh = `Title ${'x'.repeat(count)}`
      const sent = await testbed.service.during(async () => {
        t.match(await run(line, fresh), { code: 0 })
      })
      t.same(writes(sent), ['PUT /report'])
      t.equal(await stored(), fresh)
      t.same(await namesOf(testbed, 'reports/by-name'), [`${fresh}.json`])
    })
  }
  for (const [name, line] of inItsPlace) {
    await t.test(`${name} is refused, and the program says so`, async t => {
      const before = await stored()
      const sent = await testbed.service.during(async () => {
        const { code, stderr } = await run(line, 'Lost?')
        t.not(code, 0)
        t.match(stderr, /\S/)
        await testbed.pass(2_500)
      })
      t.same(writes(sent), [])
      t.equal(await stored(), before)
      t.same(await namesOf(testbed, 'reports/by-name'), [`${before}.json`])
      t.match(await readFile(`${copy}.kept`, 'utf8'), /Lost\?/)
      if (name !== 'ln -sf' && name !== 'rm -f' && name !== 'sed -i')
        t.match(await readFile(copy, 'utf8'), /Lost\?/, 'what was to be moved is still there')
    })
  }
  t.same(await namesOf(testbed, '.calcfs/drafts'), [])
})
