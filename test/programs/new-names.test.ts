// `new*.json` as programs use it: the one that made a record goes on with it, another one makes another record.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { warmMount } from '../testbed/warm-mount.js'

t.setTimeout(120_000)

const report = (title: string, description: string) =>
  JSON.stringify({ title, description, reportType: '1', calculations: [Number(ids.bare)] })

if (process.platform === 'linux' && process.env['CALCFS_KERNEL'] !== 'libfuse') {
  t.test('NEW-3 programs that write through the name of a new report', async t => {
    const testbed = await warmMount(t)
    const [one, other] = [join(testbed.home, 'one.json'), join(testbed.home, 'other.json')]
    await writeFile(one, report('Dyes', 'first'))
    await writeFile(other, report('Dyes', 'second'))
    const name = join(testbed.directory, 'reports/new.json')
    const sent = async (line: string, from = ''): Promise<readonly string[]> =>
      writes(
        await testbed.service.during(async () => {
          const { code, stderr } = await run('bash', ['-c', line, 'bash', name, from], { cwd: testbed.home })
          t.equal(code, 0, `${line}: ${stderr}`)
        }),
      )

    t.same(await sent('cp "$2" "$1"', one), ['POST /report'])
    t.same(await sent('cp "$2" "$1"', one), [], 'the same text once more')
    t.same(await sent(`sed -i s/first/edited/ "$1"`), ['PUT /report'], 'it carries the id')
    t.same(await sent('cp "$2" "$1"', other), ['POST /report'], 'another program')
    const python = `import sys
for text in ("second", "third"):
    with open(sys.argv[1], "w") as file: file.write(open(sys.argv[2]).read().replace("second", text).replace("Dyes", "Acids"))`
    const again = await sent(`/usr/bin/python3 -c '${python}' "$1" "$2"`, other)
    t.same(again, ['POST /report', 'PUT /report'], 'the program that made it')
  })
}
