// LEASE-3 on a real mount: a file whose size changes without the kernel's knowledge is read whole at once, by every way of opening.
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { KernelTestbed } from '../testbed/mount.js'
import { printed, python } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'

t.setTimeout(240_000)

const report = `reports/${ids.report}.json`
const project = 'projects/Water splitting/.project.json'
const byId = `by-id/project/${ids.water}/.project.json`

/** A long text, a very short one, and some of random length. */
const notes = [
  'much longer than any before it '.repeat(9),
  'x',
  ...[1, 2, 3, 4].map(() => 'r'.repeat(randomInt(1, 900))),
]

/** Reads a file, changes it in some way to hold a note, and prints what each way of opening it reads instead of that. */
const readAround = `
import json, os, sys
path, note = sys.argv[1:3]
record = json.loads(open(path).read()); record["note"] = note; new = json.dumps(record, indent=2) + "\\n"
{change}
for mode in ["r", "r+", "a+"]:
    with open(path, mode) as file:
        file.seek(0); got = file.read()
        if got != new and note not in got or not got.rstrip().endswith("}"): print(mode, len(new), len(got), got[-30:])
print("read")`

const around = (testbed: KernelTestbed, path: string, note: string, change: string): Promise<string> =>
  printed(python, ['-c', readAround.replace('{change}', change), path, note], { cwd: testbed.directory })

t.test('LEASE-3 what a refused rename left as a draft is read whole at once', async t => {
  const testbed = await warmMount(t)
  testbed.service.intercept(/^PUT \/report/, response => void response.writeHead(500).end('{}'))
  const change = `
open("reports/6.tmp", "w").write(new)
try: os.rename("reports/6.tmp", path); print("renamed")
except OSError as error: assert error.errno == 5`
  for (const note of notes) t.equal(await around(testbed, report, note, change), 'read\n', note)
})

t.test('LEASE-3 a save through one path is read whole at once through another', async t => {
  const testbed = await warmMount(t)
  const finished = join(testbed.local, 'finished.json')
  for (const [at, note] of notes.entries()) {
    const [seen, saved] = at % 2 === 0 ? [byId, project] : [project, byId]
    // Nothing of the round before is leased any more.
    await testbed.pass(2500)
    const record = JSON.parse(await textOf(testbed, saved))
    await writeFile(finished, `${JSON.stringify({ ...record, note }, undefined, 2)}\n`)
    const line = 'cat "$1" > "$3.before"; cp "$3" "$2"; cat "$1"'
    const read = await printed('sh', ['-c', line, 'sh', seen, saved, finished], { cwd: testbed.directory })
    t.equal(JSON.parse(read).note, note)
  }
})

t.test('LEASE-3 a file of another length is read whole once it was requested again', async t => {
  const testbed = await warmMount(t)
  const file = join(testbed.directory, 'projects/Water splitting/TS1_opt/run.log')
  for (const [version, note] of notes.entries()) {
    const text = `${note} of version ${version}`.repeat(randomInt(1, 40))
    const head = { 'content-length': text.length, etag: `"${version}"` }
    const mend = testbed.service.intercept(/bitstream.*run\.log/, (response, { heard }) => {
      response.writeHead(200, head).end(heard.method === 'HEAD' ? undefined : text)
    })
    await printed('cat', [file])
    t.match(await testbed.calcfs('refresh', file), { code: 0 })
    t.equal(await printed('cat', [file]), text, `${text.length} bytes`)
    mend()
  }
})

t.test('LEASE-3 what is appended right after a save stands at the end of the text as it is now', async t => {
  const testbed = await warmMount(t)
  const rowsOf = async () =>
    JSON.parse(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`)).calculations
  const before: { readonly calcId: number }[] = await rowsOf()
  await printed('sh', ['-c', 'sed -i 2,3d "$1"', 'sh', `reports/${ids.report}/order.txt`], {
    cwd: testbed.directory,
  })
  const [, second, third] = before.map(({ calcId }) => String(calcId))
  const line = 'echo "$2" >> "$1"; echo "$3" >> "$1"'
  const place = `reports/${ids.report}/order.txt`
  await printed('sh', ['-c', line, 'sh', place, String(third), String(second)], { cwd: testbed.directory })
  const after: { readonly calcId: number }[] = await rowsOf()
  t.same(
    after.map(({ calcId }) => String(calcId)),
    [String(before[0]?.calcId), third, second],
  )
})
