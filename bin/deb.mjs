// Builds the Debian package from the packed file and the packages that the program imports: `npm run deb [-- DIRECTORY]`.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { bundledOnly, external } from './external.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const into = resolve(process.argv[2] ?? '.')
const about = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))
const locked = JSON.parse(fs.readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
const printed = (program, ...args) => execFileSync(program, args, { cwd: root, encoding: 'utf8' }).trim()

/** Seconds since 1970: two builds of one commit are the same to the last byte. */
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? printed('git', 'log', '-1', '--format=%ct'))
const maintainer = `${process.env.DEBFULLNAME ?? 'calcfs authors'} <${process.env.DEBEMAIL ?? 'calcfs@localhost.localdomain'}>`
const architecture = printed('dpkg', '--print-architecture')
const file = join(into, `calcfs_${about.version}_${architecture}.deb`)

const stage = fs.mkdtempSync(join(tmpdir(), 'calcfs-deb-'))
try {
  await build()
} finally {
  fs.rmSync(stage, { recursive: true, force: true })
}
console.log(file)

async function build() {
  const tree = join(stage, 'tree')
  const at = path => join(tree, path)
  program(at('usr/lib/calcfs'))
  link(at('usr/bin/calcfs'), '../lib/calcfs/bin/calcfs')
  // The same place as /sbin on every Debian that this can be installed on (12 and newer).
  for (const name of ['mount.calcfs', 'mount.fuse.calcfs'])
    link(at(`usr/sbin/${name}`), '../lib/calcfs/bin/mount.calcfs')

  const documents = at('usr/share/doc/calcfs')
  fs.mkdirSync(dirname(documents), { recursive: true })
  fs.renameSync(at('usr/lib/calcfs/docs'), documents)
  // `calcfs help TOPIC` reads them, also where a machine keeps no documents.
  fs.mkdirSync(at('usr/lib/calcfs/docs'))
  for (const read of ['help', 'completion'])
    fs.renameSync(join(documents, read), at(`usr/lib/calcfs/docs/${read}`))
  for (const name of ['README.md', 'CHANGELOG.md'])
    fs.renameSync(at(`usr/lib/calcfs/${name}`), join(documents, name))
  fs.rmSync(at('usr/lib/calcfs/LICENSE'))
  write(join(documents, 'copyright'), copyright())
  write(join(documents, 'changelog.gz'), gzipSync(changelog(), { level: 9 }))

  await manual(at('usr/share/man'))
  completions(at('usr/share'))
  const units = at('usr/lib/calcfs/systemd')
  move(join(units, 'calcfs-system@.service'), at('usr/lib/systemd/system/calcfs-system@.service'))
  move(join(units, 'calcfs@.service'), at('usr/lib/systemd/user/calcfs@.service'))
  write(at('usr/share/lintian/overrides/calcfs'), fs.readFileSync(join(root, 'bin/debian/lintian-overrides')))

  for (const name of ['postinst', 'prerm', 'postrm'])
    write(at(`DEBIAN/${name}`), fs.readFileSync(join(root, 'bin/debian', name)))
  const files = below(tree).filter(path => !path.startsWith('DEBIAN/'))
  const bytes = files.reduce((sum, path) => sum + fs.lstatSync(at(path)).size, 0)
  write(at('DEBIAN/md5sums'), sums(tree, files))
  write(at('DEBIAN/control'), control(Math.ceil(bytes / 1024)))
  settle(tree)
  fs.mkdirSync(into, { recursive: true })
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', tree, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** What `npm pack` packs, with the packages that are not bundled in it. */
function program(at) {
  const archive = printed('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', stage)
  fs.mkdirSync(at, { recursive: true })
  printed('tar', '-xzf', join(stage, archive), '-C', at, '--strip-components=1')
  fs.rmSync(join(at, 'dist/man'), { recursive: true })
  // Nothing is installed from here: npm's scripts and the packages for work on calcfs say nothing to it.
  const { name, version, license, type, engines } = about
  write(join(at, 'package.json'), `${JSON.stringify({ name, version, license, type, engines }, null, 2)}\n`)
  for (const place of reached(external)) {
    fs.cpSync(join(root, place), join(at, place), {
      recursive: true,
      filter: from => isRun(relative(join(root, place), from), from),
    })
  }
}

/** Whether a file of a package is run on this architecture: no examples, types, documents, sources, or other systems' compiled parts. */
function isRun(path, from) {
  if (path === '') return true
  if (path.split('/').includes('node_modules')) return false
  if (/(^|\/)\./.test(path)) return false
  if (
    /^(bin|scripts|tests?|benchmarks?|examples?|docs|osxfuse|libfuse|integration|musl_\w+)(\/|$)/.test(path)
  )
    return false
  if (fs.statSync(from).isDirectory()) {
    return !/^prebuilds\/./.test(path) || path === `prebuilds/${process.platform}-${process.arch}`
  }
  if (/^(license|licence|copying|notice|authors)/i.test(path) || /(^|\/)(electron\.|libfuse\.so)/.test(path))
    return false
  return (
    /\.(c?js|mjs|json|node)$/.test(path) &&
    !/\/trampolines\.cjs$|\.test\.c?js$|^(bin\.|cnoke\.|optional\.|build-test\.|bench|example|test|eslint)[^/]*$/.test(
      path,
    )
  )
}

/** Where packages lie, and all that they ask for and that is installed here: compiled parts for another C library are not Debian's. */
function reached(names) {
  const found = new Set()
  const walk = (from, name) => {
    const place = nearest(from, name)
    if (place === undefined || found.has(place) || /-musl$/.test(place)) return
    if (!fs.existsSync(join(root, place)) || /fuse-shared-library-(darwin|linux-arm)$/.test(place)) return
    found.add(place)
    const { dependencies, optionalDependencies } = locked[place]
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) walk(place, next)
  }
  for (const name of names) walk('', name)
  return [...found].sort()
}

/** As Node looks for a package: in the directory itself, then in those above. */
function nearest(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    if (locked[place] !== undefined) return place
    if (at === '') return undefined
    if (!at.includes('/node_modules/')) at = ''
  }
}

async function manual(at) {
  const [{ wholeProgram }, { manualPages }] = await Promise.all([
    import('../dist/src/cli/main.js'),
    import('../dist/src/cli/manual/pages.js'),
  ])
  const pages = manualPages(await wholeProgram(), new Date(epoch * 1000))
  for (const [name, text] of Object.entries(pages))
    write(join(at, `man${name.at(-1)}`, `${name}.gz`), gzipSync(text, { level: 9 }))
  link(join(at, 'man8/mount.fuse.calcfs.8.gz'), 'mount.calcfs.8.gz')
}

function completions(at) {
  const places = {
    bash: 'bash-completion/completions/calcfs',
    zsh: 'zsh/vendor-completions/_calcfs',
    fish: 'fish/vendor_completions.d/calcfs.fish',
  }
  for (const [shell, place] of Object.entries(places))
    write(join(at, place), `${printed(process.execPath, 'bin/calcfs', 'completion', shell)}\n`)
}

function control(kibibytes) {
  return `Package: calcfs
Version: ${about.version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${kibibytes}
Depends: nodejs (>= 20.19), fuse3 | fuse, libc6 (>= 2.25), libgcc-s1, libstdc++6
Suggests: libfuse2t64 | libfuse2, bash-completion, libnotify-bin, libsecret-tools
Section: net
Priority: optional
Description: computational-chemistry data platform as a drive
 Mounts the projects, calculations and reports of a platform for
 computational chemistry below a directory: files are read as local ones
 and kept on the disk, reports are edited with any editor, and an edit that
 could not be saved is kept.
 .
 nodejs 20.19 or newer is in Debian 13. On Debian 12, whose own is 18, it
 comes from the packages of NodeSource.
`
}

function changelog() {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  return `calcfs (${about.version}) unstable; urgency=medium

  * What changed is in /usr/share/doc/calcfs/CHANGELOG.md.

 -- ${maintainer}  ${date}
`
}

function copyright() {
  const own = fs.readFileSync(join(root, 'LICENSE'), 'utf8')
  const others = reached([
    ...Object.keys({ ...about.dependencies, ...about.optionalDependencies }),
    ...bundledOnly,
  ]).map(place => {
    const text = fs.readdirSync(join(root, place)).find(name => /^licen[cs]e/i.test(name))
    const words = text === undefined ? '' : fs.readFileSync(join(root, place, text), 'utf8')
    const { license } = locked[place]
    const terms =
      license === 'Apache-2.0'
        ? `${words.match(/^ *Copyright .*\d{4}.*$/gm)?.join('\n') ?? ''}\nApache-2.0, see /usr/share/common-licenses/Apache-2.0`
        : words || `License: ${license}`
    return `${'-'.repeat(72)}\n${place.replace(/^.*node_modules\//, '')} ${locked[place].version}\n\n${terms.trim()}\n`
  })
  return `calcfs ${about.version}\n\n${own}\nIt holds these packages of npm, in part bundled:\n\n${others.join('\n')}`
}

function sums(tree, files) {
  const line = path =>
    `${createHash('md5')
      .update(fs.readFileSync(join(tree, path)))
      .digest('hex')}  ${path}\n`
  return files
    .filter(path => fs.lstatSync(join(tree, path)).isFile())
    .map(line)
    .join('')
}

/** One time and the usual rights for all, whatever the umask was. */
function settle(tree) {
  const isStarted =
    /^(usr\/lib\/calcfs\/(bin\/(mount\.)?calcfs|systemd\/hand-over\/.+)|DEBIAN\/(postinst|prerm|postrm))$/
  for (const path of [...below(tree), ''].reverse()) {
    const full = join(tree, path)
    const found = fs.lstatSync(full)
    if (!found.isSymbolicLink())
      fs.chmodSync(full, found.isDirectory() || isStarted.test(path) ? 0o755 : 0o644)
    fs.lutimesSync(full, epoch, epoch)
  }
}

/** Sorted, empty directories taken away. */
function below(tree) {
  const all = fs.readdirSync(tree, { recursive: true }).sort()
  for (const path of all.toReversed()) {
    const full = join(tree, path)
    if (fs.lstatSync(full).isDirectory() && fs.readdirSync(full).length === 0) fs.rmdirSync(full)
  }
  return all.filter(path => fs.lstatSync(join(tree, path), { throwIfNoEntry: false }) !== undefined)
}

function write(path, text) {
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(path, text)
}

function move(from, to) {
  fs.mkdirSync(dirname(to), { recursive: true })
  fs.renameSync(from, to)
}

function link(path, target) {
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.symlinkSync(target, path)
}
