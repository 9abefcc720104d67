// Rules of the documents: files that they name are there, and each promise is tested.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { filesIn, rulesOf } from './house-size.js'

const root = resolve(fileURLToPath(import.meta.url), '../../..')

const text = (file: string): string => readFileSync(join(root, file), 'utf8')

const filesBelow = (folder: string, ending: string): readonly string[] => filesIn(root, folder, ending)

const none = (t: Test, found: readonly string[], promise: string) => t.same(found, [], promise)

t.test('the documents name files that are there', async t => {
  const isThere = (path: string) => existsSync(join(root, path))
  const inProse = (file: string): readonly string[] => pathsIn(text(file).replace(/```[\s\S]*?```/g, ''))
  none(
    t,
    inProse('docs/architecture.md').filter(path => !isThere(path) && !isThere(join('src', path))),
    'docs/architecture.md: from src, or from the top',
  )
  none(
    t,
    inProse('CONTRIBUTING.md').filter(path => !isThere(path)),
    'CONTRIBUTING.md: from the top',
  )
  const [, picture = ''] = /```([\s\S]*?)```/.exec(text('docs/architecture.md')) ?? []
  const drawn = picture.match(/[\w-][\w./-]*(\.ts|\/)(?![\w/])/g) ?? []
  none(
    t,
    drawn.filter(path => !filesBelow('src', '.ts').some(file => `/${file}`.includes(`/${path}`))),
    'the picture of docs/architecture.md: the end of a path',
  )
  t.ok(drawn.length > 20, 'the picture is read')
})

/** Paths of files and folders between backticks; those of what is built apart, and those with a word in capitals for any name. */
function pathsIn(document: string): readonly string[] {
  const found = document.matchAll(/`([a-z][a-z0-9./-]*(?:\.ts|\.mjs|\.md|\/))`/g)
  return [...found].flatMap(([, path]) => (path === undefined || path.startsWith('dist/') ? [] : [path]))
}

t.test('what is generated is as its generator writes it', async t => {
  const { stderr } = spawnSync(process.execPath, [join(root, 'bin/pages.mjs'), '--check'])
  t.equal(`${stderr}`, '', 'npm run pages')
})

t.test('every promise is tested', async t => {
  const promises = ['docs/semantics.md', 'docs/commands.md'].flatMap(file => rulesOf(text(file)))
  const tests = filesBelow('test', '.ts').map(text).join('\n')
  const named = (id: string) => new RegExp(`\\b${id}\\b`).test(tests)
  none(
    t,
    promises.filter(({ id }) => !named(id)).map(({ id }) => id),
    'each rule of docs/semantics.md and docs/commands.md is named by a test',
  )
  t.ok(promises.length > 100, 'the rules are read')
})
