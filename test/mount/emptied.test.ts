// READ-19 a record that is saved again and again, and read by other programs meanwhile: old, new, cut or empty, never zeros.
import { join } from 'node:path'
import t from 'tap'
import { printed, python } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { warmMount } from '../testbed/warm-mount.js'

t.setTimeout(240_000)

const reader = `
import os, sys, time
path, seconds = sys.argv[1], float(sys.argv[2])
end, reads, zeros = time.time() + seconds, 0, 0
while time.time() < end or reads <= 10:
    try:
        with open(path, "rb") as file: zeros += b"\\0" in file.read()
        reads += 1
    except OSError: pass
print(reads > 10, zeros)`

const writer = `
import json, random, sys, time
path, seconds = sys.argv[1], float(sys.argv[2])
end, saves, record = time.time() + seconds, 0, json.loads(open(path).read())
while time.time() < end or saves <= 5:
    saves += 1
    text = json.dumps({**record, "description": "x" * random.randint(1, 60) + str(saves)})
    with open(path, "w") as file: file.write(text)
    time.sleep(random.choice([0, 0.05, 0.1]))
print(saves > 5)`

t.test('READ-19 no program reads zeros from a record while another one saves it', async t => {
  const testbed = await warmMount(t)
  const path = join(testbed.directory, `reports/${ids.report}.json`)
  const seconds = process.env['CALCFS_STORM_SECONDS'] ?? '4'
  const limit = 1_000 * Number(seconds) + 20_000
  const [wrote, ...read] = await Promise.all([
    printed(python, ['-c', writer, path, seconds], { limit }),
    printed(python, ['-c', reader, path, seconds], { limit }),
    printed(python, ['-c', reader, path, seconds], { limit }),
  ])
  t.equal(wrote.trim(), 'True')
  for (const seen of read) t.equal(seen.trim(), 'True 0')
})
