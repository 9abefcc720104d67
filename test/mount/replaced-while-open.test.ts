// SAVE-21 on a real mount: a program whose open file is replaced is told at its close, and its text is kept.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { printed, python, run } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { warmMount } from '../testbed/warm-mount.js'

t.setTimeout(240_000)

/** Moved to another name, its text is there, as on any file system. */
const ends = [
  ['rename over', '116 116 116\n'],
  ['unlink and create', '116 116 116\n'],
  ['backup and create', '116 0 0\n'],
] as const

/** One program writes a whole text and is not done yet; another takes the file away. Prints how the first close ends. */
const program = `
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
        const args = ['-c', program, `reports/${ids.report}.json`, token, way, sync]
        t.equal(await printed(python, args, { cwd: testbed.directory }), ending, `${way}, ${sync}`)
        const kept = await run('grep', ['-rl', `"description": "${token}"`, join(testbed.home, 'state')])
        t.match(kept.stdout, /texts|drafts/, `${way}, ${sync}: the text is kept`)
        t.match(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`), `theirs ${token}`)
      }
    }
  },
)
