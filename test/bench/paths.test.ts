// The count of what the hot paths cost inside: every row is there, with numbers.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

t.setTimeout(180_000)

const root = resolve(fileURLToPath(import.meta.url), '../../../..')

t.test('--paths counts five hot paths and raw undici', async t => {
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/bench/run.js', '--paths'], {
    cwd: root,
  })
  const rows = stdout.split('\n').filter(line => /^\| (?!path)/.test(line))
  t.equal(rows.length, 6, stdout)
  for (const row of rows.slice(0, 5)) {
    const [, what, modules, calls] = row.split('|').map(cell => cell.trim())
    t.ok(Number(modules) > 0 && Number(calls) > 0, `${what} was counted`)
  }
  t.match(rows[5], /raw undici.*\| 1 \|$/, 'one request of undici is one request')
  const [stat = '', , , , save = ''] = rows
  t.match(stat, /\| 0 \|$/, 'a warm stat asks for nothing')
  t.notMatch(save, /\| 0 \|$/, 'a save asks')
})
