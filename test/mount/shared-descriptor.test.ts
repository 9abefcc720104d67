// SAVE-20 SAVE-21 where one file is closed twice at once, as after dup(2) or a fork, or replaced while it is open: each close tells what became of the save.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { printed, python, run } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { warmMount } from '../testbed/warm-mount.js'

t.jobs = 3

/** Two closes of one open file, the second so many seconds after the first began; prints how each of them ends. */
const program = `
import json, os, sys, threading, time
path, token, gap = sys.argv[1:4]
record = json.loads(open(path).read())
file = os.open(path, os.O_WRONLY | os.O_TRUNC)
os.write(file, json.dumps({**record, "description": token}).encode())
copy, ends = os.dup(file), {}
def end(which, descriptor):
    try: os.close(descriptor); ends[which] = 0
    except OSError as error: ends[which] = error.errno
first = threading.Thread(target=end, args=("first", copy))
first.start(); time.sleep(float(gap)); end("second", file); first.join()
print(ends["first"] != 0, ends["second"] != 0)`

for (const [method, status] of [
  ['GET', 500],
  ['PUT', 500],
  ['PUT', 409],
] as const) {
  t.test(
    `SAVE-20 two closes of one open file at once both tell of a ${method} that is ${status}`,
    async t => {
      const testbed = await warmMount(t)
      for (const gap of [0, 0.02, 0.3]) {
        const token = `${method} ${status} ${gap} ${Math.random()}`
        const args = ['-c', program, `reports/${ids.report}.json`, token, String(gap)]
        const stored = () => testbed.service.elsewhere('GET', `/report?id=${ids.report}`)
        // Read before anything fails.
        await testbed.files.readFile(`reports/${ids.report}.json`)
        const heal = testbed.service.intercept(new RegExp(`^${method} /report`), async response => {
          await wait(800)
          response.writeHead(status)
          response.end('no')
        })
        t.equal(
          (await printed(python, args, { cwd: testbed.directory })).trim(),
          'True True',
          `after ${gap} s`,
        )
        heal()
        t.notMatch(await stored(), token)
        await testbed.here('drafts', 'drop', `${ids.report}.json`)
      }
    },
  )
}

t.test('SAVE-20 two closes of one open file at once both end well, and one save is sent', async t => {
  const testbed = await warmMount(t)
  const slow = testbed.service.beforeAnswer(/^GET \/report/, 300)
  const args = ['-c', program, `reports/${ids.report}.json`, 'stored once', '0.05']
  const asked = await testbed.service.during(async () => {
    t.equal((await printed(python, args, { cwd: testbed.directory })).trim(), 'False False')
  })
  slow()
  t.equal(asked.filter(({ method }) => method === 'PUT').length, 1)
  t.match(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`), 'stored once')
})

/** One program has a record open, a second moves a finished text over it, and a third opens it meanwhile and writes. */
const third = `
import json, os, sys, threading, time
path, token = sys.argv[1:3]
record = json.loads(open(path).read())
text = lambda word: json.dumps({**record, "description": word + token}).encode()
with open(path + ".tmp", "wb") as file: file.write(text("moved "))
first = os.open(path, os.O_RDONLY)
mover = threading.Thread(target=os.rename, args=(path + ".tmp", path))
mover.start(); time.sleep(0.1)
def work():
    file = os.open(path, os.O_RDWR | os.O_TRUNC)
    os.pwrite(file, text("third "), 0); os.close(file)
try: work(); print("done")
except OSError as error: print(os.strerror(error.errno))
mover.join(); os.close(first)`

t.test(
  'SAVE-20 a record that is opened while another text is moved over it is written, or an error',
  async t => {
    const testbed = await warmMount(t)
    testbed.service.beforeAnswer(/^(GET|PUT) \/report/, 400)
    for (const token of ['one', 'two', 'three']) {
      const args = ['-c', third, `reports/${ids.report}.json`, token]
      const ended = (await printed(python, args, { cwd: testbed.directory })).trim()
      const stored = await testbed.service.elsewhere('GET', `/report?id=${ids.report}`)
      if (ended === 'done') t.match(stored, `third ${token}`)
      else t.match(stored, `moved ${token}`, ended)
    }
  },
)

/** Moved to another name, its text is there, as on any file system. */
const ends = [
  ['rename over', '116 116 116\n'],
  ['unlink and create', '116 116 116\n'],
  ['backup and create', '116 0 0\n'],
] as const

/** One program writes a whole text and is not done yet; another takes the file away. Prints how the first close ends. */
const replacing = `
import json, os, sys
path, token, way, sync = sys.argv[1:5]
record = json.loads(open(path).read())
mine = json.dumps({**record, "description": token}).encode()
theirs = json.dumps({**record, "title": "theirs " + token}).encode()
file = os.open(path, os.O_WRONLY)
os.ftruncate(file, 0); os.write(file, mine)
if sync == "fsync": os.fsync(file)
aside = path + ".tmp"
def put(name, flags):
    other = os.open(name, os.O_WRONLY | os.O_CREAT | flags, 0o600); os.write(other, theirs); os.close(other)
if way == "rename over": put(aside, 0); os.rename(aside, path)
elif way == "unlink and create": os.unlink(path); put(path, os.O_EXCL)
elif way == "backup and create": os.rename(path, path + "~"); put(path, os.O_EXCL); os.unlink(path + "~")
def end(call):
    try: call(); return 0
    except OSError as error: return error.errno
print(end(lambda: os.write(file, b" ")), end(lambda: os.fsync(file)), end(lambda: os.close(file)))`

t.test(
  'SAVE-21 whose open file is replaced before it was saved gets ESTALE, and its text is kept',
  async t => {
    const testbed = await warmMount(t)
    for (const [way, ending] of ends) {
      for (const sync of ['no', 'fsync']) {
        const token = randomUUID()
        const args = ['-c', replacing, `reports/${ids.report}.json`, token, way, sync]
        t.equal(await printed(python, args, { cwd: testbed.directory }), ending, `${way}, ${sync}`)
        const kept = await run('grep', ['-rl', `"description": "${token}"`, join(testbed.home, 'state')])
        t.match(kept.stdout, /texts|drafts/, `${way}, ${sync}: the text is kept`)
        t.match(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`), `theirs ${token}`)
      }
    }
  },
)
