// Promises of `calcfs login` and `calcfs logout`: how long a sign-in lasts, which are kept, in a keyring too, and what goes on without one.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ownHome } from '../../testbed/commands/own-home.js'
import { command } from '../../testbed/commands/warm-commands.js'
import { calcfs as program } from '../../testbed/daemon.js'
import { whereOnly } from '../../testbed/machine/own-mounts.js'
import { type Ran, run } from '../../testbed/programs.js'
import { testService } from '../../testbed/service.js'
import { outcome, overwrite } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.jobs = 3

const day = 24 * 3_600_000

type Desk = Awaited<ReturnType<typeof desk>>

async function desk(t: Test) {
  const service = await testService(t)
  const { environment } = await ownHome(t, 'login')
  const calcfs = (more: Readonly<Record<string, string>>, ...args: string[]) =>
    command(args, { ...environment, ...more })
  return { service, home: environment['HOME'] ?? '', environment, calcfs }
}

const login = ({ calcfs, service }: Desk, user = 'demo'): Promise<Ran> =>
  calcfs({ CALCFS_PASSWORD: user }, 'login', service.url, '--user', user)

t.test('SIGN-10 status says until when a drive is signed in, and what comes then', async t => {
  const testbed = await warmMount(t)
  const text = await testbed.calcfs('status', testbed.directory)
  t.match(text, { code: 0, stdout: /^ {2}signed in until 2\S+ \S+, renewed by itself$/m })
  const [facts] = JSON.parse((await testbed.calcfs('status', '--json', testbed.directory)).stdout)
  t.match(facts, { signedIn: true, signInRenewed: true })
  t.ok(Math.abs(Date.parse(facts.signedInUntil) - Date.now() - day) < day / 10)
})

t.test('SIGN-10 a failed login never says "run calcfs login"', async t => {
  const at = await desk(t)
  const { service, calcfs } = at
  const wrong = { CALCFS_PASSWORD: 'wrong' }
  const cases: readonly (readonly [string, () => void, RegExp, code?: number])[] = [
    ['a wrong password', () => {}, /refused the password of demo.*try again\. Nothing was changed/],
    ['a 403', () => void service.refuse(/login/, 403, 'no'), /refused the password of demo/],
    ['a 404', () => void service.refuse(/login/, 404, 'no'), /no log-in at .*check the address/, 1],
    [
      'a page',
      () => void service.intercept(/login/, response => void response.end('<html>a portal</html>')),
      /a web page came where data are due/,
    ],
    [
      'silence',
      () => void service.intercept(/login/, response => void setTimeout(() => response.destroy(), 3000)),
      /cannot be reached: .*; check the address and the network, and try again\. Nothing was changed/,
      4,
    ],
    [
      'an outage',
      () => void service.leave(),
      /^calcfs: 127\.0\.0\.1:\d+ cannot be reached: nothing answered /,
      4,
    ],
  ]
  for (const [what, begin, said, code] of cases) {
    begin()
    const ended = await calcfs(wrong, 'login', service.url, '--user', 'demo', '--deadline-metadata', '1s')
    t.not(ended.code, 0, what)
    if (code !== undefined) t.equal(ended.code, code, what)
    t.match(ended.stderr, said, what)
    t.notMatch(ended.stderr, /calcfs login/, what)
  }
  const colon = await calcfs(wrong, 'login', service.url, '--user', 'de:mo')
  t.match(colon, { code: 3, stderr: 'calcfs: a user name cannot hold a colon\n' })
})

t.test('a profile signs in with the password nearest to it, never with that of another user', async t => {
  const { service, calcfs, home } = await desk(t)
  await writeFile(join(home, 'password'), 'guest\n', { mode: 0o600 })
  const config = join(home, 'two.toml')
  const signIn = (...flags: string[]) => calcfs({}, '--config', config, 'login', ...flags)
  const text = `url = "${service.url}"\nuser = "demo"\npassword-command = "echo demo"\n[profiles.group]\nuser = "guest"\n`
  await writeFile(config, text)
  await service.sends(t, [], async () => {
    for (const flag of ['--profile=group', '--user=guest']) t.match(await signIn(flag), { code: 2 }, flag)
  })
  const own = `password-file = "${home}/password"\n`
  for (const [written, user] of [
    [`${text}${own}`, 'guest'],
    [text.replace('"guest"', '"demo"'), 'demo'],
  ] as const) {
    await writeFile(config, written)
    t.match(await signIn('--profile', 'group'), { code: 0, stdout: new RegExp(` as ${user}, `) })
  }
})

t.test('SIGN-10 logout keeps unsaved texts, and says so; and which drives go on, and how', async t => {
  const at = await desk(t)
  const { service, calcfs, home, environment } = at
  const directory = join(home, 'drive')
  t.match(await login(at), { code: 0 })
  t.match(await calcfs({}, 'mount', '--daemon', service.url, directory), { code: 0 })
  const file = join(directory, 'reports', 'new-mine.json')
  await t.rejects(writeFile(file, '{"name":"Mine","reportType":"none"}'))

  const out = await whereOnly([directory], `${process.execPath} ${program} logout`, environment)
  t.match(out, { code: 0, stderr: '' }, 'the only service that is mounted is meant')
  t.match(out.stdout, /^Signed out demo of http/)
  const goesOn = `^${directory} is still mounted: it uses the token it has until 2.*:\\d\\d, then answers EACCES`
  t.match(out.stdout, new RegExp(goesOn, 'm'))
  t.match(out.stdout, /; 1 unsaved, which stay\. calcfs unmount \S+ ends it\.$/m)
  t.ok((await readdir(join(directory, 'projects'))).includes('Water splitting'), 'it goes on')
  t.match(await calcfs({}, 'unmount', directory), { code: 7 })
  const alone = await whereOnly(['none'], `${process.execPath} ${program} login`, environment)
  t.match(alone, { code: 2, stderr: /^calcfs: no service is named, .* and doctor take it first, others / })

  t.match(await login(at), { code: 0 })
  const [, ...more] = (await calcfs({}, 'logout', service.url)).stdout.split('\n')
  t.match(more[0], /^1 unsaved text is kept in \S+; calcfs login http.* save what waits\.$/)
  t.match(await calcfs({}, 'logout', service.url), { code: 0, stdout: /^demo was not signed in to / })
  t.match(await login(at, 'guest'), { code: 0 })
  t.match(await calcfs({}, 'logout', service.url, '--user', 'demo'), {
    code: 0,
    stdout: `demo was not signed in to ${service.url}.`,
  })
})

t.test('SIGN-10 a drive with a password of its own signs in again by itself', async t => {
  const testbed = await warmMount(t)
  t.equal(await outcome(overwrite(testbed, 'reports/43.json', '{ no json')), 'EINVAL')
  const out = await testbed.calcfs('logout', testbed.service.url, '--user', 'demo')
  const goesOn = 'is still mounted: it has a password of its own, and signs in again by itself; 1 '
  t.match(out, { code: 0, stdout: new RegExp(`^${testbed.directory} ${goesOn}`, 'm') })
})

t.test('SIGN-13 with keyring the token lies in the keyring of the desktop, and in no file', async t => {
  const { service, home, environment } = await desk(t)
  // A session bus and a keyring of the test's own, which end with the script.
  const script = `
    printf secret | gnome-keyring-daemon --unlock --foreground --components=secrets >/dev/null 2>&1 &
    keyring=$!; trap 'kill $keyring' EXIT
    # Asked by its name, the bus would start another one, which is locked.
    owned() { dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets; }
    for try in $(seq 150); do owned | grep -q 'boolean true' && break; sleep 0.2; done
    calcfs() { timeout 60 "$NODE" "$CALCFS" "$@"; }
    CALCFS_PASSWORD=demo calcfs login "$URL" --user demo; echo "login $?"
    calcfs resolve '/db/demo/Water splitting' --url "$URL"; echo "resolve $?"
    grep -rl eyJ "$HOME/state"; echo "in files $?"
    timeout 60 secret-tool lookup application calcfs url "$URL" user demo | grep -c eyJ
    calcfs logout "$URL"; echo "logout $?"
    timeout 60 secret-tool lookup application calcfs url "$URL" user demo; echo "lookup $?"
    calcfs resolve '/db/demo/Water splitting' --url "$URL" --user demo; echo "after $?"
  `
  const ran = await run('dbus-run-session', ['--', 'bash', '-c', script], {
    environment: {
      ...environment,
      NODE: process.execPath,
      CALCFS: program,
      URL: service.url,
      CALCFS_KEYRING: 'yes',
      XDG_DATA_HOME: join(home, 'data'),
    },
    limit: 240_000,
  })
  const said = ran.stdout
  t.match(said, /as demo, until .*; the token is kept in the keyring\.\nlogin 0\n/)
  t.match(said, /^project 100.*\nresolve 0\nin files 1\n1\n/m)
  t.match(said, /^Signed out demo of .*\nlogout 0\nlookup 1\nafter 3$/m)
  t.match(ran.stderr, /calcfs login http/)
})
