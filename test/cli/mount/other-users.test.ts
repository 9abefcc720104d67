// A drive of an ordinary user, mounted through fusermount: saved by its owner, looked at by others, ended by Ctrl-C.
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { calcfs } from '../../testbed/daemon.js'
import { inOwnMounts } from '../../testbed/machine/own-mounts.js'
import { ids } from '../../testbed/sample-data.js'
import { testService } from '../../testbed/service.js'

const [owner, other] = [65_534, 4242]
const as = (user: number): string => `setpriv --reuid=${user} --regid=${user} --clear-groups`

t.test('STATE-2 with --allow-other others read what is saved, and only the owner what is not', async t => {
  if (process.getuid?.() !== 0)
    return t.fail('this test changes to other users, which only root may: run it as root')
  const service = await testService(t)
  const directory = t.testdir({})
  await chmod(directory, 0o755)
  const home = join(directory, 'home')
  const at = join(home, 'at')
  await mkdir(at, { recursive: true })
  for (const path of [home, at]) await chown(path, owner, owner)
  const report = `${at}/reports/${ids.report}.json`
  const ran = await inOwnMounts(
    `
    printf 'user_allow_other\n' > ${directory}/fuse.conf
    mount --bind ${directory}/fuse.conf /etc/fuse.conf
    owner="${as(owner)} env HOME=${home} CALCFS_PASSWORD=demo"
    other="${as(other)}"
    denied() { "$@" 2>&1 | grep -o 'Permission denied'; }
    $owner node ${calcfs} mount ${service.url} ${at} --user demo --allow-other 2>/dev/null & daemon=$!
    for i in $(seq 450); do grep -q ' ${at} ' /proc/self/mountinfo && break; sleep 0.1; done
    $owner node ${calcfs} status --json ${at} | grep -o '"kernel": "session"'
    $owner sed -i '0,/Supporting information/s//SI of the paper/' ${report}; echo "saved $?"
    $other grep -c 'SI of the paper' ${report}
    $owner dd of=${report} <<<'{ "secret": not yet' 2>&1 | grep -o 'Invalid argument'
    denied $other cat ${report}
    denied $other ls ${at}/.calcfs/drafts
    denied $other cat ${at}/.calcfs/status.json
    denied $other touch ${report}
    denied $other touch ${at}/reports/new.json
    denied $other mkdir ${at}/projects/theirs
    for reader in "$owner" env; do $reader grep -o secret ${report}; done
    kill -INT $daemon; wait $daemon; echo "ended $?"
    grep -c ' ${at} ' /proc/self/mountinfo`,
    { directory },
  )
  const refused = 'Permission denied'
  t.same(ran.stdout.trimEnd().split('\n'), [
    '"kernel": "session"',
    'saved 0',
    '1',
    'Invalid argument',
    ...Array(6).fill(refused),
    ...['secret', 'secret'],
    'ended 7',
    '0',
  ])
  t.match(await service.elsewhere('GET', `/report?id=${ids.report}`), 'SI of the paper')
})
