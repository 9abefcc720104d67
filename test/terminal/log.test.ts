// A log file keeps to its size, and goes on where another program moves or empties it.
import { readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openLogFile } from '../../src/terminal/log.js'
import { scratch } from '../testbed/disk/scratch.js'
import { until } from '../testbed/within.js'

const line = (number: number): string => `${JSON.stringify({ number, text: 'x'.repeat(80) })}\n`

const numbersIn = async (file: string): Promise<readonly number[]> =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map(one => (JSON.parse(one) as { number: number }).number)

t.test('LOG-3 a log takes twice its size at most, and its newest lines are whole', async t => {
  const file = join(await scratch(t), 'deep', 'log')
  const limit = 20_000
  const log = openLogFile(file, limit)
  for (let at = 0; at < 5_000; at += 1) {
    log.write(line(at))
    const sizes = await Promise.all([file, `${file}.1`].map(one => stat(one).catch(() => undefined)))
    for (const found of sizes) if ((found?.size ?? 0) > limit + 200) t.fail(`${found?.size} bytes`)
  }
  t.same((await readdir(join(file, '..'))).sort(), ['log', 'log.1'])
  const kept = [...(await numbersIn(`${file}.1`)), ...(await numbersIn(file))]
  t.equal(kept.at(-1), 4_999)
  t.same(
    kept,
    Array.from({ length: kept.length }, (_, at) => 5_000 - kept.length + at),
  )
})

t.test('a log where no directory can be made is refused at once', t => {
  // Node's own recursive mkdir never returns there.
  t.throws(() => openLogFile('/proc/nothing/here/x.log', 100_000), {
    name: 'BadSetting',
    message:
      '--log-file /proc/nothing/here/x.log: it cannot be written (ENOENT); name a file in a directory of your own, or leave it out.',
  })
  t.end()
})

t.test('LOG-3 what an earlier daemon wrote counts', async t => {
  const file = join(await scratch(t), 'log')
  await writeFile(file, line(1).repeat(1_000))
  openLogFile(file, 20_000).write(line(2))
  t.same(await numbersIn(file), [2])
  t.equal((await numbersIn(`${file}.1`)).length, 1_000)
})

for (const [how, rotate] of [
  ['renamed', (file: string) => rename(file, `${file}.old`)],
  ['removed', (file: string) => rm(file)],
  ['emptied', (file: string) => truncate(file)],
] as const)
  t.test(`LOG-3 a log that is ${how} by another program goes on under its name`, async t => {
    const file = join(await scratch(t), 'log')
    const log = openLogFile(file, 1_000_000)
    log.write(line(1))
    await rotate(file)
    await until(20_000, 'the next line', async () => {
      log.write(line(2))
      const found = await numbersIn(file).catch(() => [])
      return found.length > 0 && found.every(number => number === 2)
    })
    t.same(new Set(await numbersIn(file)), new Set([2]))
  })

t.test('LOG-3 a line that the disk took in part is followed by a whole one', async t => {
  const made = await scratch(t)
  const file = join(made, 'log')
  const log = openLogFile(file, 2_000)
  // Half a line is there, and the rest of it fails, for root as well.
  await rename(made, `${made}.away`)
  log.write(line(1))
  await rename(`${made}.away`, made)
  await writeFile(file, line(1).slice(0, 40))
  for (const number of [2, 3]) log.write(line(number))
  t.same((await readFile(file, 'utf8')).split('\n').slice(1), `${line(2)}${line(3)}`.split('\n'))
})
