// The rules of the house, read from the sources themselves: who may import whom, where a fact may stand, how a file looks.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const root = resolve(fileURLToPath(import.meta.url), '../../..')

/** Which rooms a room may import; src/record, src/failure.ts, src/error-code.ts, src/machine-clocks.ts, src/soon.ts, src/askers.ts, src/quick-disk.ts, src/make-directory.ts and src/set-aside.ts are leaves that anyone below may import. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'error-code': [],
  'machine-clocks': [],
  failure: ['error-code'],
  soon: [],
  askers: [],
  'quick-disk': [],
  'make-directory': ['error-code'],
  'set-aside': [],
  record: ['failure'],
  config: ['error-code'],
  remote: ['record', 'failure', 'askers', 'error-code', 'machine-clocks'],
  cache: ['remote', 'record', 'failure', 'quick-disk', 'make-directory', 'set-aside', 'askers', 'error-code'],
  edit: ['remote', 'record', 'failure', 'quick-disk', 'make-directory', 'set-aside', 'error-code'],
  drive: [
    'edit',
    'cache',
    'remote',
    'record',
    'failure',
    'soon',
    'set-aside',
    'error-code',
    'machine-clocks',
  ],
  mount: ['drive', 'remote', 'record', 'failure', 'soon', 'error-code'],
  service: [],
  cli: [
    'config',
    'mount',
    'drive',
    'edit',
    'cache',
    'remote',
    'record',
    'failure',
    'service',
    'set-aside',
    'error-code',
  ],
}

/** Rooms that see the platform only through its waist. */
const onlyTheWaist = ['cache', 'edit', 'drive', 'mount']

interface Import {
  readonly from: string
  readonly to: string
}

/** Paths below the repository, with slashes. */
function filesBelow(directory: string, ending: RegExp): readonly string[] {
  const full = join(root, directory)
  if (!existsSync(full)) return []
  const entries = readdirSync(full, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile() && ending.test(entry.name))
    .map(entry => relative(root, join(entry.parentPath, entry.name)))
    .sort()
}

const text = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The program without its comments, so that a rule about code does not trip over prose. */
const code = (file: string): string =>
  text(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1')

const sources = filesBelow('src', /\.ts$/)
const rest = [...filesBelow('test', /\.ts$/), ...filesBelow('bench', /\.ts$/), ...filesBelow('bin', /\.mjs$/)]

const roomOf = (file: string): string => file.split('/')[1]?.replace(/\.ts$/, '') ?? ''

function importsOf(file: string): readonly string[] {
  const found = code(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)
  return [...found].flatMap(([, specifier]) => (specifier === undefined ? [] : [specifier]))
}

const inHouse: readonly Import[] = sources.flatMap(from =>
  importsOf(from)
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => ({
      from,
      to: relative(root, resolve(root, from, '..', specifier)).replace(/\.js$/, '.ts'),
    })),
)

/** Where a pattern stands in the code, sentences for people apart, as `file: text`, outside of the files that own it. */
function strays(pattern: RegExp, owners: RegExp): readonly string[] {
  const wordless = (file: string) => code(file).replace(/'[^'\n]* [^'\n]*'/g, "''")
  return sources
    .filter(file => !owners.test(file))
    .flatMap(file => [...wordless(file).matchAll(pattern)].map(([found]) => `${file}: ${found.trim()}`))
}

const none = (t: Test, found: readonly string[], promise: string) => t.same(found, [], promise)

t.test('every room is in the table', async t => {
  none(
    t,
    [...new Set(sources.map(roomOf))].filter(room => !(room in mayImport)),
    'no room without a rule',
  )
})

t.test('imports go one way', async t => {
  const wrong = inHouse.filter(
    ({ from, to }) => roomOf(from) !== roomOf(to) && !mayImport[roomOf(from)]?.includes(roomOf(to)),
  )
  none(
    t,
    wrong.map(({ from, to }) => `${from} imports ${to}`),
    'no room reaches up or across',
  )
})

t.test('the platform is seen through the waist only', async t => {
  const wrong = inHouse.filter(
    ({ from, to }) =>
      onlyTheWaist.includes(roomOf(from)) && roomOf(to) === 'remote' && to !== 'src/remote/remote.ts',
  )
  none(
    t,
    wrong.map(({ from, to }) => `${from} imports ${to}`),
    'cache, edit and drive know remote.ts alone',
  )
})

t.test('no file imports itself by a detour', async t => {
  none(t, cycles(inHouse), 'no cycle')
})

function cycles(imports: readonly Import[]): readonly string[] {
  const below = grouped(imports)
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, way: readonly string[]): void => {
    const start = way.indexOf(file)
    if (start !== -1) found.push([...way.slice(start), file].join(' → '))
    if (start !== -1 || done.has(file)) return
    for (const next of below.get(file) ?? []) visit(next, [...way, file])
    done.add(file)
  }
  for (const file of sources) visit(file, [])
  return found
}

function grouped(imports: readonly Import[]): ReadonlyMap<string, readonly string[]> {
  const targets = (file: string) => imports.filter(({ from }) => from === file).map(({ to }) => to)
  return new Map(sources.map(file => [file, targets(file)]))
}

t.test('a library that could leak is imported in one place', async t => {
  const importers = (name: string) =>
    sources.filter(file => importsOf(file).some(it => it === name || it.startsWith(`${name}/`)))
  none(
    t,
    importers('fuse-native').filter(file => file !== 'src/mount/fuse.ts'),
    'fuse-native is src/mount/fuse.ts alone',
  )
  none(
    t,
    importers('undici').filter(file => roomOf(file) !== 'remote'),
    'undici is src/remote alone',
  )
  none(
    t,
    importers('commander').filter(file => roomOf(file) !== 'cli'),
    'commander is src/cli alone',
  )
  none(
    t,
    importers('fastify').filter(file => roomOf(file) !== 'service'),
    'fastify is src/service alone',
  )
})

t.test('a fact stands in the file that owns it', async t => {
  none(t, strays(/\bprocess\.env\b/g, /^src\/cli\//), 'the environment is read by commands and handed down')
  none(
    t,
    strays(/\bconstants\.errno\b/g, /^src\/(drive\/errno\.ts|mount\/)/),
    'errno numbers are the mount’s',
  )
  none(
    t,
    strays(/\.split\('\/'\)/g, /^src\/(drive\/(tree|name)[^/]*|service\/.*)\.ts$/),
    'paths are taken apart in tree and name',
  )
  none(
    t,
    strays(
      /(?<![\w.])(401|403|404|405|408|409|410|412|413|422|423|429|501|502|503|504|507)(?!\w)/g,
      /^src\/(remote\/http\.ts|service\/.*|cli\/serve\.ts)$/,
    ),
    'HTTP statuses have their meaning in remote/http.ts',
  )
})

t.test('the sources are held to plain types', async t => {
  none(t, strays(/(?::|<|\bas)\s*any\b/g, /^$/), 'no any')
  none(t, strays(/@ts-(ignore|nocheck|expect-error)/g, /^$/), 'no silenced compiler')
})

t.test('every file says what it decides, and stays short', async t => {
  const all = [...sources, ...rest]
  none(
    t,
    all.filter(file => !text(file).startsWith('// ')),
    'the first line is a comment',
  )
  none(
    t,
    all.filter(file => text(file).trimEnd().split('\n').length > 400),
    'at most 400 lines',
  )
  const vague = /^(index|utils?|helpers?|common|manager|types|misc)\b/
  none(
    t,
    all.filter(file => vague.test(basename(file))),
    'no file with a vague name',
  )
  none(
    t,
    all.filter(file => /\b(TODO|FIXME|XXX)\b/.test(file === 'test/house.test.ts' ? '' : text(file))),
    'nothing left to do',
  )
})

t.test('every dependency has its reason', async t => {
  const { dependencies, devDependencies } = JSON.parse(text('package.json'))
  const reasons = text('docs/dependencies.md')
  const names = Object.keys({ ...dependencies, ...devDependencies })
  none(
    t,
    names.filter(name => !reasons.includes(`| ${name} |`)),
    'docs/dependencies.md has a line for each',
  )
})

t.test('every promise is tested', async t => {
  const document = join(root, 'docs/semantics.md')
  const promises = existsSync(document) ? ruleIds(readFileSync(document, 'utf8')) : []
  const tests = filesBelow('test', /\.ts$/).map(text).join('\n')
  const named = (id: string) => new RegExp(`\\b${id}\\b`).test(tests)
  none(
    t,
    promises.filter(id => !named(id)),
    'each rule of docs/semantics.md is named by a test',
  )
})

/** A rule starts a line, a list item, a table row or a heading: `**READ-3**`, `| READ-3 |`, `### READ-3`. */
function ruleIds(document: string): readonly string[] {
  const found = document.matchAll(/^[\s|#*+-]*[`*]*([A-Z]{2,}-\d+)\b/gm)
  return [...new Set([...found].flatMap(([, id]) => (id === undefined ? [] : [id])))]
}

t.test('a rule of the document is recognised in each form', async t => {
  const document = '- **READ-1** a\n| `EDIT-2` | b |\n### NAME-3\nUses SHA-256 and UTF-8.\nREAD-1 again'
  t.same(ruleIds(document), ['READ-1', 'EDIT-2', 'NAME-3'], 'ids at the start of lines, each once')
})
