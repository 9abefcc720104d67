// Bundles: the command line, in a few files of compiled modules and their packages, so that a command starts in two thirds of the time; and tap, for the tests.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { external } from './external.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const outdir = join(root, 'dist/program')

/** CommonJS packages ask for Node's modules with `require`, which an ES module does not have. */
const banner =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['dist/src/cli/main.js'],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external,
  banner: { js: banner },
  legalComments: 'external',
  logLevel: 'warning',
  metafile: true,
})
const made = new Set(Object.keys(metafile.outputs).map(path => basename(path)))
for (const name of readdirSync(outdir)) if (!made.has(name)) rmSync(join(outdir, name))

// `calcfs --version --json` tells what this was built from. An unpacked archive knows no commit, and git tells none to another user than the owner.
const git = (...args) => spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' })
const head = git('rev-parse', 'HEAD')
if (existsSync(join(root, '.git')) && head.status === 0) {
  const isChanged = git('status', '--porcelain', '--untracked-files=no').stdout !== ''
  const commit = `${head.stdout.trim()}${isChanged ? '+changes' : ''}`
  writeFileSync(join(outdir, 'build.json'), `${JSON.stringify({ commit })}\n`)
}

// Manual pages, from the commands as they are compiled.
await import('./pages.mjs')

// Node finds this one before the package itself where a file of dist/test/ asks for tap: one module for 450 of them takes half the time to load, in each test file's process.
// The runner keeps the package (bin/test-files.mjs). Where only what runs is installed, there is no tap, and no test.
const packages = join(root, 'dist/node_modules')
/** Tap leaves out of a failure's stack what lies in a package of this scope. */
const whole = '@tapjs/whole/index.mjs'
/** Seconds that a test file may take; tap's own 30 are too few for mounts on a busy machine. What it waits for, a test limits itself. */
const limit = 590
if (existsSync(join(root, 'node_modules/tap'))) {
  await build({
    absWorkingDir: root,
    stdin: { contents: "export { default } from 'tap'; export * from 'tap'", resolveDir: root },
    outfile: join(packages, whole),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: { js: `${banner} process.env.TAP_TIMEOUT ??= '${limit}';` },
    logLevel: 'warning',
  })
  mkdirSync(join(packages, 'tap'), { recursive: true })
  const about = { name: 'tap', type: 'module', exports: './index.mjs' }
  writeFileSync(join(packages, 'tap/package.json'), JSON.stringify(about))
  writeFileSync(
    join(packages, 'tap/index.mjs'),
    `export { default } from '../${whole}'\nexport * from '../${whole}'\n`,
  )
}
