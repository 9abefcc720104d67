// Rules of the code base, checked in the sources: allowed imports, the owner of each fact, the form of a file.
import { readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { wholeProgram } from '../src/cli/main.js'
import { settingNames } from '../src/config/settings.js'
import { examplesOf } from '../src/terminal/command.js'
import { ceilings } from './ceilings.js'
import { commandsBelow } from './cli/commands-below.js'
import { layers } from './folders.js'
import { filesIn, houseSize } from './house-size.js'
import { proseOf } from './prose.js'

const root = resolve(fileURLToPath(import.meta.url), '../../..')

/** Layers that see the platform only through Remote and Dialect, and time only through the Clock. */
const onlyInterfaces = ['cache', 'edit', 'drive', 'mount']
const interfaces = ['remote', 'wire/dialect', 'clock', 'askers'].map(name => `src/remote/${name}.ts`)

interface Import {
  readonly from: string
  readonly to: string
}

const filesBelow = (folder: string, ending: string): readonly string[] => filesIn(root, folder, ending)

const text = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The program without its comments, so that a rule about code does not trip over prose. */
const code = (file: string): string =>
  text(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1')

const sources = filesBelow('src', '.ts')
const layered = [...sources, ...filesBelow('bench', '.ts')]
const tests = filesBelow('test', '.ts')
const rest = [...tests, ...filesBelow('bench', '.ts'), ...filesBelow('bin', '.mjs')]

/** Below src, else below the repository. */
const folderOf = (file: string): string => dirname(file).replace(/^src\//, '')

/** The layer of a file: its folder right below src. */
const layerOf = (file: string): string => folderOf(file).split('/')[0] ?? ''

function importsOf(file: string): readonly string[] {
  const found = code(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)
  return [...found].flatMap(([, specifier]) => (specifier === undefined ? [] : [specifier]))
}

function importsIn(files: readonly string[]): readonly Import[] {
  const target = (from: string, specifier: string) =>
    relative(root, resolve(root, from, '..', specifier)).replace(/\.js$/, '.ts')
  return files.flatMap(from =>
    importsOf(from)
      .filter(specifier => specifier.startsWith('.'))
      .map(specifier => ({ from, to: target(from, specifier) })),
  )
}

const ownImports = importsIn(sources)

/** Imports between folders of src and bench. */
const crossing = importsIn(layered).filter(({ from, to }) => folderOf(from) !== folderOf(to))

/** Matches of a pattern in the code, except in sentences, as `file: text`, outside of the files that own it. */
function strays(pattern: RegExp, owners: RegExp): readonly string[] {
  const wordless = (file: string) => code(file).replace(/'[^'\n]* [^'\n]*'/g, "''")
  return sources
    .filter(file => !owners.test(file))
    .flatMap(file => [...wordless(file).matchAll(pattern)].map(([found]) => `${file}: ${found.trim()}`))
}

const none = (t: Test, found: readonly string[], promise: string) => t.same(found, [], promise)

t.test('imports go one way', async t => {
  const order = Object.keys(layers)
  const between = crossing
    .map(({ from, to }) => ({ from: layerOf(from), to: layerOf(to) }))
    .filter(({ from, to }) => from !== to)
  const arrows = (imports: readonly Import[]) =>
    new Set(imports.map(({ from, to }) => `${from} imports ${to}`))
  const allowed = Object.entries(layers).flatMap(([from, targets]) =>
    targets.split(' ').flatMap(to => (to === '' ? [] : [{ from, to }])),
  )
  t.same(arrows(between), arrows(allowed), 'only the layers that test/folders.ts names, and each is needed')
  const isUpwards = ({ from, to }: Import) => order.includes(to) && order.indexOf(to) >= order.indexOf(from)
  none(t, [...arrows(allowed.filter(isUpwards))], 'each stands above what it imports')
  const folders = crossing.map(({ from, to }) => ({ from: folderOf(from), to: folderOf(to) }))
  none(t, cycles([...new Set(layered.map(folderOf))], folders), 'no folder imports itself by a detour')
  none(t, cycles(sources, ownImports), 'no file does')
})

t.test('a folder can be read at once, but for that of one file a command', async t => {
  const counts = new Map<string, number>()
  for (const file of [...layered, ...tests]) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  none(
    t,
    [...counts]
      .filter(([folder, count]) => count > 16 && !/cli\/commands$/.test(folder))
      .map(([folder, count]) => `${folder}: ${count}`),
    'at most 16 files side by side',
  )
})

t.test('the platform is seen through the Remote interface only', async t => {
  const wrong = ownImports.filter(
    ({ from, to }) =>
      onlyInterfaces.includes(layerOf(from)) && layerOf(to) === 'remote' && !interfaces.includes(to),
  )
  none(
    t,
    wrong.map(({ from, to }) => `${from} imports ${to}`),
    'cache, edit, drive and mount know remote.ts, wire/dialect.ts, clock.ts and askers.ts alone',
  )
})

function cycles(names: readonly string[], imports: readonly Import[]): readonly string[] {
  const below = grouped(names, imports)
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, way: readonly string[]): void => {
    const start = way.indexOf(file)
    if (start !== -1) found.push([...way.slice(start), file].join(' → '))
    if (start !== -1 || done.has(file)) return
    for (const next of below.get(file) ?? []) visit(next, [...way, file])
    done.add(file)
  }
  for (const name of names) visit(name, [])
  return found
}

function grouped(
  names: readonly string[],
  imports: readonly Import[],
): ReadonlyMap<string, readonly string[]> {
  const targets = (name: string) => imports.filter(({ from }) => from === name).map(({ to }) => to)
  return new Map(names.map(name => [name, targets(name)]))
}

t.test('a library that could leak is imported in one place', async t => {
  const importers = (name: string) =>
    sources.filter(file => importsOf(file).some(it => it === name || it.startsWith(`${name}/`)))
  const places = {
    'fuse-native': /^src\/mount\/fuse\.ts$/,
    undici: /^src\/remote\//,
    commander: /^src\/(cli|terminal)\//,
    fastify: /^src\/service\//,
  }
  for (const [name, place] of Object.entries(places))
    none(
      t,
      importers(name).filter(file => !place.test(file)),
      `${name} is ${place} alone`,
    )
})

t.test('a fact stands in the file that owns it', async t => {
  none(
    t,
    strays(/\bprocess\.env\b/g, /^src\/(cli|terminal)\//),
    'the environment is read by commands and handed down',
  )
  none(
    t,
    strays(
      /\bconsole\.|\bstdout\.write|\bstderr\.write/g,
      /^src\/(terminal\/(print|prompt)|mount\/mount-point)\.ts$/,
    ),
    'what is printed goes through one door',
  )
  none(t, strays(/\bconstants\.errno\b/g, /^src\/mount\//), 'errno numbers are the mount’s')
  none(
    t,
    strays(
      /\b(setTimeout|setInterval|Date\.now|performance\.now)\b/g,
      /^src\/(remote\/clock\.ts|drive\/namespace\/awake-clock\.ts|(system|mount|cli|service)\/)/,
    ),
    'time is the clock’s',
  )
  none(
    t,
    strays(/\.split\('\/'\)/g, /^src\/(drive\/tree\/[^/]*|drive\/nodes\/name|service\/.*)\.ts$/),
    'paths are taken apart in tree and name',
  )
  none(
    t,
    strays(
      /(?<![\w.])(401|403|404|405|408|409|410|412|413|422|423|429|501|502|503|504|507)(?!\w)/g,
      /^src\/(remote\/http\/http\.ts|metrics\/metrics-port\.ts|service\/.*|cli\/commands\/serve\.ts)$/,
    ),
    'HTTP statuses have their meaning in remote/http/http.ts, and in what answers itself',
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

/** Comments that begin without a noun, and words for people where a thing should be named. */
const clause = /^\s*(?:\/\/|\/\*\*|\*) (?:What|Whose|Which|Whether)\b/gm
const words = /\b(whoever|somebody|nobody|anybody|anew)\b/i

t.test('comments and messages name things, not people', async t => {
  const found = (file: string): readonly string[] =>
    proseOf(text(file))
      .split('\n')
      .flatMap((line, at) => {
        const [word] = words.exec(line) ?? []
        return word === undefined ? [] : [`${file}:${at + 1}: ${word}`]
      })
  none(t, [...sources, ...rest].filter(file => words.test(text(file))).flatMap(found), 'none of these words')
  const clauses = sources.flatMap(file => text(file).match(clause) ?? [])
  t.ok(clauses.length <= 20, `${clauses.length} comments begin with a clause in the place of a noun`)
})

t.test('a word is found in comments and texts, and not in names and patterns', async t => {
  const word = ['any', 'body'].join('')
  const isFound = (source: string): boolean => words.test(proseOf(source))
  for (const source of [`f() // ${word}`, `/** ${word} */ f()`, `f('${word}')`, `f(\`\${a} ${word} \${b}\`)`])
    t.ok(isFound(source), source)
  for (const source of [`${word}.f()`, `f(/${word}/)`]) t.notOk(isFound(source), source)
})

t.test('every dependency has its reason', async t => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(text('package.json'))
  const reasons = text('docs/dependencies.md')
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })
  none(
    t,
    names.filter(name => !reasons.includes(`| ${name} |`)),
    'docs/dependencies.md has a line for each',
  )
})

t.test('every setting is used', async t => {
  const used = sources
    .filter(file => file !== 'src/config/settings.ts')
    .map(code)
    .join('\n')
  const isUsed = (name: string) =>
    [`\\b(\\w*[cC]onfig|base)\\.${name}\\b`, `\\{[^{}]*\\b${name}\\b[^{}]*\\} = config\\b`].some(use =>
      new RegExp(use).test(used),
    )
  none(
    t,
    settingNames.filter(name => !isUsed(name)),
    'config.NAME, or { NAME } = config, in a file beside config/settings.ts',
  )
})

t.test('CMD-1 every command has two examples that it would take', async t => {
  const all = commandsBelow(await wholeProgram()).filter(
    ([path, { commands }]) => commands.length === 0 && !path.includes('__'),
  )
  t.ok(all.length > 20, 'the commands are found')
  for (const [path, command] of all) {
    const examples = examplesOf(command)
    t.ok(examples.length >= 2, `${path} has two: withExamples of src/terminal/examples.ts`)
    const flags = [command, command.parent, command.parent?.parent].flatMap(one => one?.options ?? [])
    for (const [line, says] of examples) {
      t.match(
        line,
        new RegExp(`\\bcalcfs ([^|]*)?${path.split(' ').slice(1).join(' ')}\\b`),
        `${line} calls ${path}`,
      )
      t.ok(says.length > 0 && !/[.]$/.test(says), `${line} says what for`)
      for (const [flag] of line.matchAll(/(?<= )--[a-z-]+/g))
        t.ok(flags.map(({ long }) => long).includes(flag), `${line}: ${path} knows ${flag}`)
    }
  }
})

t.test('the house only shrinks', async t => {
  const size = houseSize(root)
  for (const [name, ceiling] of Object.entries(ceilings)) {
    const now = size[name as keyof typeof ceilings]
    t.ok(now <= ceiling, `${name}: ${now}, at most ${ceiling} (test/ceilings.ts)`)
  }
})
