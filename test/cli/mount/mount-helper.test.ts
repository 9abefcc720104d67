// Promises of mount(8) and /etc/fstab: `mount -t calcfs`, its options and exit codes, an ordinary user's line, `umount`.
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { calcfs } from '../../testbed/daemon.js'
import { inOwnMounts } from '../../testbed/machine/own-mounts.js'
import type { Ran } from '../../testbed/programs.js'
import { testService } from '../../testbed/service.js'
import { isDrawn } from '../../testbed/variants.js'

/** Says so where a daemon with this directory in its command line does not end. */
const untilEnded = (directory: string): string => `
  runs() { pgrep -f '^[^ ]*node .* mount .*${directory}' >/dev/null; }
  for i in $(seq 300); do runs || break; sleep 0.1; done; runs && echo 'a daemon still runs'`

async function place(t: Test) {
  const service = await testService(t)
  const { url } = service
  const directory = t.testdir({ at: {}, password: 'demo\n' })
  await chmod(directory, 0o755)
  await chmod(join(directory, 'password'), 0o600)
  return {
    service,
    url: url.replace('/create/rest', ''),
    directory,
    at: join(directory, 'at'),
    /** What signs in. */
    who: `username=demo,password_file=${directory}/password`,
  }
}

/** The same where an ordinary user's line of /etc/fstab has these options, and `as` makes a command that user's. */
async function usersPlace(t: Test) {
  const found = await place(t)
  const { url, directory, at } = found
  const home = join(directory, 'home')
  await mkdir(home)
  await writeFile(join(home, 'password'), 'demo\n', { mode: 0o600 })
  for (const path of [home, join(home, 'password'), at]) await chown(path, nobody, nobody)
  const own = `password_file=${home}/password,state_dir=${home}/state,cache_dir=${home}/cache`
  return {
    ...found,
    as: `setpriv --reuid=${nobody} --regid=${nobody} --clear-groups`,
    line: (options: string) => `${url} ${at} calcfs user,noauto,username=demo,${own},${options} 0 0`,
  }
}

const wordsOf = ({ stdout }: Ran): string[] => stdout.trimEnd().split('\n')

t.test('MOUNT-1 mount -t calcfs returns once the drive is there, and umount takes it away', async t => {
  const { url, directory, at, who } = await place(t)
  const ran = await inOwnMounts(
    `
    for type in calcfs fuse.calcfs; do
      mount -t $type ${url} ${at} -o ${who},ttl_listing=1m,max-deletes=2; echo "$type $?"
      ls ${at}
      grep -c ' ${at} .* ${url} ' /proc/self/mountinfo
      umount ${at}; echo "umount $?"
      ${untilEnded(at)}
    done`,
    { directory },
  )
  t.equal(ran.stderr, '')
  const shown = ['by-id', 'db', 'projects', 'reports', '1', 'umount 0']
  t.same(wordsOf(ran), ['calcfs 0', ...shown, 'fuse.calcfs 0', ...shown])
})

t.test('MOUNT-3 options of mount(8) mean what they mean elsewhere', async t => {
  const { url, directory, at, who } = await place(t)
  const ran = await inOwnMounts(
    `
    mount -t calcfs ${url} ${at} -o ro,noexec,_netdev,nofail,x-systemd.automount,noatime,user,${who}; echo $?
    grep ' ${at} ' /proc/self/mountinfo | cut -d' ' -f6
    echo x > ${at}/reports/new.json
    mount -o remount,rw ${at}; echo $?
    mount -t calcfs ${url} ${at} -o ${who}; echo $?
    umount ${at}
    ${untilEnded(at)}`,
    { directory },
  )
  t.same(wordsOf(ran), ['0', 'ro,nosuid,nodev,noexec,relatime', '1', '32'])
  t.match(ran.stderr, 'Read-only file system')
  t.match(ran.stderr, 'a drive is not remounted: unmount it, and mount it again')
  t.match(ran.stderr, `something is mounted on ${at} already`)
})

t.test('MOUNT-3 what mount cannot do is one sentence, and an exit code of mount(8)', async t => {
  const { url, directory, at, who } = await place(t)
  const all: readonly (readonly [options: string, code: number, sentence: RegExp])[] = [
    ['uid=1000', 1, /there is no mount option 'uid'/],
    ['ttl_listng=1m', 1, /there is no mount option 'ttl_listng'; the nearest is 'ttl_listing'\./],
    ['ttl_listing=soon', 1, /"soon" is no duration; write for example 30s/],
    ['ttl_listing', 1, /the option ttl_listing wants a value: /],
    ['cache_size=1', 1, /"1" is too small; the least is 1M/],
    ['allow_other=perhaps', 1, /CALCFS_ALLOW_OTHER: "perhaps" /],
    ['ro,access=manage', 1, /the options ro and access=manage contradict each other; /],
    [
      'password=demo',
      1,
      /every user of this machine; put it into a file of mode 0600 .*password_file=FILE\./,
    ],
    ['profile=none', 1, /there is no profile 'none'/],
    ['username=demo,password_file=/nowhere', 1, /\/nowhere: there is no such password file; /],
    [
      'username=demo',
      32,
      /no valid sign-in at .* is known here; run `calcfs login .*mount\.calcfs: the sign-ins of root .* were looked at: /,
    ],
    [
      'user=demo',
      32,
      /or give --user\. mount\.calcfs: --user is the option username=NAME here .* of root .* were/,
    ],
  ]
  const calls = all.filter((_, at) => isDrawn(at, 3))
  const ran = await inOwnMounts(
    [
      ...calls.map(
        ([options]) =>
          `mount -t calcfs ${url} ${at} -o ${options} 2>&1 | tr '\\n' ' '; echo "\${PIPESTATUS[0]}"`,
      ),
      `mount -t calcfs http://127.0.0.1:1 ${at} -o ${who} 2>&1 | tr '\\n' ' '; echo "\${PIPESTATUS[0]}"`,
      // mount(8) itself leaves out an option of which a quote is not closed.
      `mount.calcfs ${url} ${at} -o 'ttl_listing="1m' 2>&1 | tr '\\n' ' '; echo "\${PIPESTATUS[0]}"`,
      `mount -t calcfs ${at} ${url} 2>&1 | tr '\\n' ' '; echo "\${PIPESTATUS[0]}"`,
      `mount -f -t calcfs ${url} ${at} -o ${who}; echo $?; grep -c ' ${at} ' /proc/self/mountinfo`,
    ].join('\n'),
    { directory },
  )
  const said = wordsOf(ran)
  for (const [at, [options, code, sentence]] of calls.entries()) {
    t.match(said[at], sentence, options)
    t.match(said[at], new RegExp(` ${code}$`), options)
  }
  t.match(said[calls.length], /nothing answered at the address of the service .* 32$/)
  t.match(said[calls.length + 1], /a quote is not closed in the options ttl_listing="1m; .* 1$/)
  t.equal(
    said[calls.length + 2],
    `mount.calcfs: the address comes first. Write: mount -t calcfs ${url} ${at} 1`,
  )
  t.same(said.slice(calls.length + 3), ['0', '0'], '-f mounts nothing')
})

t.test('MOUNT-4 a line of /etc/fstab with `user` is an ordinary user’s to mount and to unmount', async t => {
  if (process.getuid?.() !== 0)
    return t.fail('this test changes to another user, which only root may: run it as root')
  const { directory, at, as, line } = await usersPlace(t)
  const ran = await inOwnMounts(
    `
    ${as} mount ${at}; echo "mount $?"
    ${as} ls ${at}/projects | head -1
    grep ' ${at} ' /proc/self/mountinfo | grep -o 'noexec\\|user_id=[0-9]*'
    ls ${at} 2>&1 | grep -o 'Permission denied'
    mount -a; echo "mount -a $?"
    ${as} umount ${at}; echo "umount $?"
    ${untilEnded(at)}`,
    { directory, fstab: [line('_netdev,x-systemd.automount')] },
  )
  t.equal(ran.stderr, '')
  t.same(wordsOf(ran), [
    'mount 0',
    'Water splitting',
    'noexec',
    `user_id=${nobody}`,
    'Permission denied',
    'mount -a 0',
    'umount 0',
  ])
})

t.test('INT-1 an ordinary user ends programs that wait for a service that stands still', async t => {
  if (process.getuid?.() !== 0)
    return t.fail('this test changes to another user, which only root may: run it as root')
  const { service, directory, at, as, line } = await usersPlace(t)
  service.intercept(/^GET \/calculation\?id=9\d\d$/, () => {})
  // What a shell without a terminal begins with & has SIGINT and SIGQUIT ignored.
  const ran = await inOwnMounts(
    `
    ${as} mount ${at}
    id=900
    for program in stat cat; do for signal in TERM HUP KILL; do
      id=$((id + 1)); ${as} $program ${at}/by-id/calculation/$id & sleep 1
      began=$(date +%s%N); kill -$signal $!; wait $!; echo "$? $((($(date +%s%N) - began) / 1000000 < 5000))"
    done; done 2>&1
    ${as} umount ${at}
    ${untilEnded(at)}`,
    { directory, fstab: [line('deadline_metadata=100s')] },
  )
  const ends = wordsOf(ran).filter(line => /^\d+ \d$/.test(line))
  t.same(ends, Array(2).fill(['143 1', '129 1', '137 1']).flat(), ran.stdout + ran.stderr)
})

t.test('MOUNT-6 what an ordinary user may not is said with what mends it, and whose a drive is', async t => {
  if (process.getuid?.() !== 0)
    return t.fail('this test changes to another user, which only root may: run it as root')
  const { url, directory, at } = await place(t)
  const home = join(directory, 'home')
  const [own, open] = [join(home, 'own'), join(home, 'open')]
  const [closed, sticky] = [join(home, 'closed'), join(directory, 'sticky')]
  const nameless = join(directory, 'nameless')
  for (const path of [home, own, open, closed, sticky, nameless, join(nameless, 'at')]) await mkdir(path)
  for (const path of [home, own, open, closed]) await chown(path, nobody, nobody)
  await chmod(closed, 0o555)
  await chmod(sticky, 0o1777)
  const as = `setpriv --reuid=${nobody} --regid=${nobody} --clear-groups env HOME=${home} CALCFS_PASSWORD=demo node ${calcfs}`
  const ran = await inOwnMounts(
    `
    printf '#user_allow_other\n' > ${directory}/fuse.conf
    mount --bind ${directory}/fuse.conf /etc/fuse.conf
    exec 2>&1
    ${as} mount ${url} ${open} --user demo --allow-other --daemon; echo "refused $?"
    ${as} doctor | grep allow-other
    ${as} doctor --allow-other | grep -A1 BAD.*allow-other
    ${as.replace(`HOME=${home}`, `HOME=${directory}/none`)} doctor | grep -A1 BAD.*cache
    chown -R 4242 ${nameless}
    ${as.replace(`reuid=${nobody}`, 'reuid=4242').replace(home, nameless)} mount ${url} ${nameless}/at --user demo --daemon; echo "nameless $?"
    ${as.replace(`reuid=${nobody}`, 'reuid=4242').replace(home, nameless)} doctor | grep -A1 BAD.*fusermount
    CALCFS_PASSWORD=demo setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin node ${calcfs} mount ${url} ${at} --user demo --daemon; echo "neither $?"
    for place in ${closed} ${at} ${sticky}; do ${as} mount ${url} $place --user demo --daemon; echo "place $?"; done
    for setting in '--log-file /nodir/x.log' '--cache-dir /etc/cc' '--state-dir /etc/cc'; do
      ${as} mount ${url} ${own} --user demo --daemon $setting; echo "setting $?"; done
    ${as} mount ${url} ${own} --user demo --daemon --quiet; echo "own $?"
    printf ' user_allow_other # for all\n' > ${directory}/fuse.conf
    ${as} mount ${url} ${open} --user demo --allow-other --daemon --quiet; echo "open $?"
    ls ${open}/projects | head -1
    CALCFS_PASSWORD=demo node ${calcfs} mount ${url} ${at} --user demo --daemon --quiet; echo "root's $?"
    ${as} unmount ${at}; echo "unmount $?"
    ${as} log ${at}; echo "log $?"
    ${as} unmount ${own}; ${as} unmount ${open}; node ${calcfs} unmount ${at}
    ${as} log; echo "no log $?"`,
    { directory },
  )
  t.equal(ran.stderr, '')
  const mend = 'echo user_allow_other | sudo tee -a /etc/fuse.conf'
  const told = '/etc/fuse.conf does not allow it to users'
  const refused = (path: string): string =>
    `calcfs: ${path} is no directory on which fusermount lets you mount: one that you may write to, and not another's sticky one; name an empty directory of your own.`
  t.match(wordsOf(ran), [
    `calcfs: ${open} was not mounted with --allow-other: ${told}; have it allowed once with: ${mend}, or leave the flag out.`,
    'refused 5',
    `ok    allow-other   is not asked for, nothing to do; who wants it: ${mend}`,
    `BAD   allow-other   ${told}`,
    `                    → ${mend}`,
    `BAD   cache         ${directory}/none/.cache/calcfs cannot be written`,
    `                    → sudo install -d -o "$USER" -m 700 ${directory}/none/.cache/calcfs, or --cache-dir DIR`,
    `calcfs: ${nameless}/at was not mounted: this user id (4242) has no name, and fusermount mounts for named users alone; add a line for it to /etc/passwd, or run calcfs as a user that has one.`,
    'nameless 5',
    /^BAD {3}fusermount .*this user id \(4242\) has no name/,
    /→ add a line for it to \/etc\/passwd/,
    `calcfs: ${at} was not mounted (by calcfs itself: CAP_SYS_ADMIN is missing; through libfuse: libfuse did not mount it); calcfs doctor says what is missing.`,
    'neither 5',
    refused(closed),
    'place 6',
    refused(at),
    'place 6',
    refused(sticky),
    'place 6',
    'calcfs: --log-file /nodir/x.log: it cannot be written (EACCES); name a file in a directory of your own, or leave it out.',
    'setting 2',
    ...['CALCFS_CACHE_DIR', 'CALCFS_STATE_DIR'].flatMap(variable => [
      new RegExp(
        `^calcfs: nothing can be written on the local disk at /etc/cc.* \\(EACCES\\); name a directory that you may write to with ${variable}, or `,
      ),
      'setting 1',
    ]),
    'own 0',
    'open 0',
    'Water splitting',
    "root's 0",
    `calcfs: the drive on ${at} belongs to root (user id 0); that user or root can unmount it.`,
    'unmount 6',
    `calcfs: the drive on ${at} belongs to root (user id 0), who alone can ask it.`,
    'log 6',
    'calcfs: no drive of yours is mounted; calcfs log DIRECTORY shows the log that an earlier one has left.',
    'no log 6',
  ])
})

/** The user and group without rights of their own, of Debian. */
const nobody = 65534
