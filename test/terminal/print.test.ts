// What a terminal is shown of files: a character that is cut stays with its file. Tried on a terminal of its own.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { terminal } from '../testbed/terminal.js'

t.test('a character that the end of a file cuts is shown before the next file begins', async t => {
  const module = new URL('../../src/terminal/print.js', import.meta.url)
  const program = join(t.testdir(), 'print.mjs')
  await writeFile(
    program,
    `import { FilePrinter } from ${JSON.stringify(module.href)}
    const [one, two] = [new FilePrinter(), new FilePrinter()]
    for (const piece of [[0x61, 0xc3], [0xbc, 0xc3]]) await one.print(Buffer.from(piece))
    await one.end()
    await two.print(Buffer.from('b\\u001b[1m\\n'))
    await two.end()`,
  )
  const shown = await terminal(t, `sh -c "${process.execPath} ${program}; sleep 100"`)
  await t.resolves(shown.until(/^aü\ufffdb\\u001b\[1m$/m))
})
