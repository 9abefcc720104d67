// Promises of the configuration: which source wins, what each value means, and the message for a wrong one.
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { configFiles, readConfig, type Sources } from '../../src/config/config.js'
import { ownDirectories, userConfigFile } from '../../src/config/places.js'
import { findSecret, type Secret } from '../../src/config/secret.js'
import { makePrivateNow } from '../../src/system/own-file.js'

const nowhere = { flags: {}, environment: {}, files: [] }

/** Sources with one file of this text, mode 0600. */
function withFile(t: Test, text: string, rest: Partial<Sources> = {}): Sources {
  const path = join(t.testdir(), 'config.toml')
  writeFileSync(path, text, { mode: 0o600 })
  return { ...nowhere, ...rest, files: configFiles(path, {}) }
}

async function passwordOf(secret: Secret | undefined): Promise<string> {
  if (secret?.as === 'password') return secret.read()
  throw new Error('no password was found')
}

t.test('a flag wins over the environment, that over the profile, that over the file', async t => {
  const text = 'max-deletes = 1\nprofile = "group"\n[profiles.group]\nmax-deletes = 2\n'
  t.equal(readConfig(nowhere).maxDeletes, 3, 'the default')
  t.equal(readConfig(withFile(t, 'max-deletes = 1')).maxDeletes, 1, 'the file')
  t.equal(readConfig(withFile(t, text)).maxDeletes, 2, 'the profile')
  const environment = { CALCFS_MAX_DELETES: '3' }
  t.equal(readConfig(withFile(t, text, { environment })).maxDeletes, 3, 'the environment')
  t.equal(
    readConfig(withFile(t, text, { environment, flags: { maxDeletes: '4' } })).maxDeletes,
    4,
    'the flag',
  )
  const unset = withFile(t, text, { environment: { CALCFS_MAX_DELETES: '' } })
  t.equal(readConfig(unset).maxDeletes, 2, 'empty is unset')
  const other = `${text}[profiles.other]\nmax-deletes = 5\n`
  t.equal(readConfig(withFile(t, other, { flags: { profile: 'other' } })).maxDeletes, 5)
  t.equal(readConfig(withFile(t, other, { environment: { CALCFS_PROFILE: 'other' } })).maxDeletes, 5)
})

t.test('a value means what its writer expects', async t => {
  const given = (flags: Sources['flags']) => readConfig({ ...nowhere, flags })
  t.equal(given({ ttlListing: '500ms' }).ttlListing, 500)
  t.equal(given({ ttlListing: '1.5m' }).ttlListing, 90_000)
  t.equal(given({ ttlListing: '7d' }).ttlListing, 604_800_000)
  t.equal(given({ ttlListing: '3' }).ttlListing, 3000, 'a bare number is seconds')
  t.equal(given({ cacheSize: '10G' }).cacheSize, 10 * 2 ** 30)
  t.equal(given({ cacheSize: '1.5 MiB' }).cacheSize, 1.5 * 2 ** 20)
  t.equal(given({ cacheSize: '4194304' }).cacheSize, 4 * 2 ** 20)
  t.equal(readConfig({ ...nowhere, environment: { CALCFS_ALLOW_OTHER: 'yes' } }).allowOther, true)
  t.same(readConfig({ ...nowhere, environment: { CALCFS_ROOT: '/db/a/x\n17' } }).root, ['/db/a/x', '17'])
  t.match(given({ cacheDir: '~/x' }).cacheDir, /^\/.*\/x$/, 'the home directory')
})

t.test('a key of the file is the name of the flag', async t => {
  t.equal(readConfig(withFile(t, 'ttl-listing = "1s"\n')).ttlListing, 1000)
  t.same(readConfig(withFile(t, '[dialect.fields]\ntitle = "label"\n')).dialect, {
    fields: { title: ['label'] },
  })
})

t.test('what is wrong is said in one sentence, with its place and what is right', async t => {
  const sentences: readonly (readonly [string, RegExp])[] = [
    ['acces = "read"', /\.toml: there is no setting 'acces'; the nearest is 'access'\.$/],
    ['zzzzzzzz = 1', /\.toml: there is no setting 'zzzzzzzz'; calcfs help settings lists them\.$/],
    ['[profiles.a]\nusr = "x"', /\.toml: there is no setting 'usr'; the nearest is 'user'\.$/],
    ['access = "write"', /\.toml: access: "write" must be one of read, edit, manage\.$/],
    [
      'ttl-listing = "3 weeks"',
      /\.toml: ttl-listing: "3 weeks" is no duration; write for example 30s, 5m, 12h or 7d\.$/,
    ],
    ['cache-size = "lots"', /cache-size: "lots" is no size; write for example 500M or 10G\.$/],
    ['cache-size = 1', /cache-size: 1 is too small; the least is 1M\.$/],
    ['max-deletes = 0', /max-deletes: 0 is too small; the least is 1\.$/],
    ['max-deletes = 1.5', /max-deletes: 1\.5 is no whole number\.$/],
    ['user = 3', /user: 3 is no text; put it in quotes\.$/],
    ['root = 17', /root: 17 is no list of texts in quotes\.$/],
    ['allow-other = "perhaps"', /allow-other: "perhaps" is neither yes nor no\.$/],
    ['dialect = "old"', /dialect must be \[dialect\.fields\]/],
    ['profiles = 1', /profiles is no table; write \[profiles\.NAME\]\.$/],
    ['url = "x', /line 1, column \d+: .+\.$/],
  ]
  for (const [text, sentence] of sentences)
    t.throws(() => readConfig(withFile(t, text)), { name: 'BadSetting', message: sentence }, text)
  t.throws(() => readConfig({ ...nowhere, environment: { CALCFS_MAX_DELETES: 'x' } }), {
    message: 'CALCFS_MAX_DELETES: "x" is no whole number.',
  })
})

t.test('a secret is taken from the environment, a credential, a command, a file, in this order', async t => {
  const home = t.testdir({ 'calcfs-password': 'from systemd\n', password: 'from a file\nnot this\n' })
  const passwordFile = join(home, 'password')
  chmodSync(passwordFile, 0o600)
  const read = async (flags: Sources['flags'], environment: Sources['environment']) => {
    const sources = { ...nowhere, flags, environment }
    const secret = findSecret(readConfig(sources), sources)
    return secret?.as === 'token' ? secret.token : secret && passwordOf(secret)
  }
  const counted = { ...nowhere, flags: { passwordCommand: `echo >> ${home}/times; wc -l < ${home}/times` } }
  const one = findSecret(readConfig(counted), counted)
  if (one?.as === 'password') await one.readAhead()
  t.same([await passwordOf(one), await passwordOf(one)], ['1', '2'], 'read ahead for one log-in')
  const flags = { passwordCommand: "printf 'from a command\\nnot this'", passwordFile }
  const environment = { CREDENTIALS_DIRECTORY: home }
  t.equal(await read({}, {}), undefined, 'nothing set')
  t.equal(await read({ passwordFile }, {}), 'from a file')
  t.equal(await read(flags, {}), 'from a command')
  t.equal(await read(flags, environment), 'from systemd')
  t.equal(await read(flags, { ...environment, CALCFS_PASSWORD: 'p' }), 'p')
  t.equal(await read(flags, { ...environment, CALCFS_PASSWORD: 'p', CALCFS_TOKEN: 't' }), 't')
})

t.test('two accounts never share a directory', async t => {
  const environment = { HOME: '/home/a', XDG_CACHE_HOME: 'relative', XDG_STATE_HOME: '/s' }
  const of = (url: string, user: string) => ownDirectories({ url, user }, {}, environment)
  const one = of('https://x.org/create/rest', 'anna')
  t.match(
    one.cache,
    /^\/home\/a\/\.cache\/calcfs\/x\.org-anna-[0-9a-f]{12}$/,
    'a relative XDG path does not count',
  )
  t.match(one.state, /^\/s\/calcfs\/x\.org-anna-/)
  const others = [
    of('https://x.org/create/rest', 'Anna'),
    of('https://x.org/other', 'anna'),
    of('https://x.org/create/rest', '../anna'),
  ]
  t.equal(new Set([one, ...others].map(({ state }) => state)).size, 4)
  for (const { state } of others) t.match(state, /^\/s\/calcfs\/[^/]+$/, 'no name leaves the directory')
  t.match(
    ownDirectories({ url: 'https://x.org', user: 'a' }, { cacheDir: '/big' }, environment).cache,
    /^\/big\/x\.org-a-/,
  )
  t.equal(userConfigFile({ HOME: '/home/a' }), '/home/a/.config/calcfs/config.toml')
})

t.test('a private directory is private, also where it was not', async t => {
  const home = t.testdir({ wide: {} })
  chmodSync(join(home, 'wide'), 0o755)
  for (const name of ['wide', 'new/below']) {
    makePrivateNow(join(home, name))
    t.equal(statSync(join(home, name)).mode & 0o777, 0o700, name)
  }
})
