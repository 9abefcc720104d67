// The kernel spoken to directly (`--kernel session`): what programs see, what signals end, and what is asked once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { callsDuring, realMount } from '../testbed/mount.js'
import { printed, shell } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

const session = { kernel: 'session', deadlineMetadata: '100s', ttlListing: '1h' }
const water = 'projects/Water splitting'

t.test('INT-1 a signal that is meant to end a program ends its wait; any other signal does not', async t => {
  const { service, directory } = await realMount(t, { settings: session })
  service.intercept(/^GET \/calculation\?id=9\d+/, () => {})
  service.intercept(/^GET \/calculation\?id=8888$/, async response => {
    await wait(1_500)
    response.writeHead(404).end('{}')
  })
  const programs: readonly (readonly [string, ...string[]])[] = [
    ['ls', '-l'],
    ['cat'],
    ['stat'],
    ['find'],
    ['cp', '-r', '-t', '/tmp'],
  ]
  let number = 900
  const took: number[] = []
  for (const [program, ...args] of programs) {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGKILL'] as const) {
      number += 1
      const ended = await startedAndWaiting(t, service.heard, [
        program,
        ...args,
        `${directory}/by-id/calculation/${number}`,
      ])
      const began = performance.now()
      ended.child.kill(signal)
      const [, by] = await within(20_000, `${program} after ${signal}`, ended.exit)
      took.push(performance.now() - began)
      t.equal(by, signal, `${program} ended by ${signal}`)
    }
  }
  took.sort((one, other) => one - other)
  const [typical = 0, longest] = [took[took.length >> 1], took.at(-1)]
  t.comment(`${Math.round(typical)} ms typically, ${Math.round(longest ?? 0)} at most`)
  t.ok(typical < 1_000, 'within a second')
  // A timer, a resized window, Go's own signal and the end of a child.
  const timer = `use Time::HiRes 'ualarm'; $SIG{$_} = sub { $n{$_[0]}++ } for qw(ALRM URG WINCH CHLD);
    my $me = $$; if (!fork) { for (1..20) { select(undef, undef, undef, 0.05); kill $_, $me for qw(URG WINCH) } exit }
    ualarm(50000, 50000); $! = 0; my $found = -e $ARGV[0];
    printf "%s %d\\n", $!{EINTR} ? 'EINTR' : $!{ENOENT} ? 'ENOENT' : "$!", scalar(keys %n)`
  const ticking = await printed('perl', ['-e', timer, `${directory}/by-id/calculation/8888`])
  t.equal(ticking, 'ENOENT 4\n', 'none of them brings EINTR')
})

/** A program, once the service has heard its question. */
async function startedAndWaiting(
  t: Test,
  heard: readonly { readonly path: string }[],
  [program, ...args]: readonly string[],
) {
  const child = spawn(program ?? '', args, { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  const id = /\d+$/.exec(args.at(-1) ?? '')?.[0] ?? ''
  await until(20_000, `${program} waits`, async () => heard.some(({ path }) => path.endsWith(`id=${id}`)))
  return { child, exit }
}

t.test('what was listed and read once is asked for no more within its lifetime', async t => {
  const testbed = await realMount(t, { settings: { ...session, logLevel: 'debug' } })
  const walk = (): Promise<unknown> =>
    shell(`ls -lR '${water}/TS1_opt'; cat '${water}/TS1_opt'/*`, testbed.directory)
  // Sizes and times that the first walk has learned are told to the kernel, which asks for these names once more.
  await until(60_000, 'a walk that asks for nothing', async () => {
    const asked = await callsDuring(testbed, walk)
    return !asked.some(({ verb }) => ['lookup', 'readdir', 'read'].includes(verb))
  })
  t.pass('neither a name nor a byte')
})

t.test('READ-18 a thing has one inode number, on every mount and after a save', async t => {
  const one = await realMount(t, { settings: session })
  const numbers = (directory: string): Promise<string> =>
    printed('bash', [
      '-c',
      `cd '${directory}' && find . -path ./.calcfs -prune -o -printf '%i %P\\n' | sort -k2`,
    ])
  const first = await numbers(one.directory)
  const other = await realMount(t, { settings: session }, { service: one.service })
  t.equal(await numbers(other.directory), first, 'another mount with a cache of its own')
  await one.remount()
  t.equal(await numbers(one.directory), first, 'after a remount')
  const record = `${one.directory}/${water}/.project.json`
  const before = await printed('stat', ['-c', '%i', record])
  await printed('sed', ['-i', 's/"description": "[^"]*"/"description": "another"/', record])
  t.equal(await printed('stat', ['-c', '%i', record]), before, 'sed -i of a record')
  const all = first
    .trim()
    .split('\n')
    .filter(line => !line.includes('by-id') && !line.includes('db/'))
  t.equal(new Set(all.map(line => line.split(' ')[0])).size, all.length, 'no two share one')
})

t.test('after a remount git, tar, rsync and find take nothing for changed, and read no content', async t => {
  const testbed = await realMount(t, {
    settings: { ...session, logLevel: 'debug', access: 'read' },
  })
  const { directory, local } = testbed
  const tree = `${directory}/${water}/TS1_opt`
  const git = `git --git-dir='${local}/git' --work-tree='${tree}'`
  const tar = `tar -cf /dev/null -C '${tree}' --no-check-device --listed-incremental='${local}/snapshot' -v .`
  await printed('bash', [
    '-c',
    `${git} init -q && cd '${tree}' && ${git} add -A . && ${tar} && rsync -aH '${tree}/' '${local}/copy'`,
  ])
  // Git distrusts what is as young as its index.
  await wait(1_100)
  await printed('bash', [
    '-c',
    `cd '${tree}' && ${git} status --porcelain && ${git} update-index --refresh -q; true`,
  ])
  const [inode = '', name = ''] = (
    await printed('bash', ['-c', `cd '${tree}' && find . -name '*.log' -printf '%i %p'`])
  ).split(' ')
  await testbed.remount()
  const asked = await callsDuring(testbed, async () => {
    t.equal(await printed('bash', ['-c', `cd '${tree}' && ${git} diff --name-only`]), '', 'git')
    t.notMatch(await printed('bash', ['-c', tar]), /log|cml|json/, 'tar --listed-incremental')
    t.equal(await printed('rsync', ['-aHi', `${tree}/`, `${local}/copy`]), '', 'rsync')
    t.equal(await printed('bash', ['-c', `cd '${tree}' && find . -inum ${inode}`]), `${name}\n`, 'find -inum')
  })
  t.same(
    asked.filter(({ verb }) => verb === 'read'),
    [],
    'nothing was read',
  )
})

t.test('MOUNT-6 where the session cannot be had, libfuse takes over, and log and status say why', async t => {
  const testbed = await realMount(t, {
    settings: session,
    preload: new URL('../testbed/machine/without-koffi.js', import.meta.url),
  })
  t.match(await textOf(testbed, `${water}/.index.tsv`), new RegExp(ids.transition))
  const cause = 'koffi, by which calcfs calls libuv, does not load'
  t.match(await testbed.log(), `through libfuse, not by calcfs itself: ${cause}; calcfs doctor`)
  const { stdout } = await testbed.calcfs('status', testbed.directory)
  t.match(stdout, `  the kernel is spoken to through libfuse: ${cause}\n`)
})
