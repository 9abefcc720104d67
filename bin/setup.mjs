// Brings a fresh machine to where `npm run demo` or `npm test` works: says what is missing, installs it, builds.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { completeLock } from './lock.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Packages that are called like the one program that the tests want of them. */
const namesakes =
  'busybox curl dunst ed file fish git grep jq make mandoc mopac nano patch pcmanfm perl redis-server rsync sed tar thunar tmux vim xdotool xtb zsh'.split(
    ' ',
  )

/** What must be there: how it is recognised, and which Debian packages bring it (the first list that exists is taken). */
const needs = [
  // Root mounts without it.
  {
    what: 'fusermount3',
    for: ['demo'],
    there: () => process.getuid() === 0 || onPath('fusermount3') || onPath('fusermount'),
    packages: [['fuse3'], ['fuse']],
  },
  // Some tests, and a part of the bench, are of mounts through libfuse.
  {
    what: 'fusermount',
    for: ['bench', 'test'],
    there: () => onPath('fusermount'),
    packages: [['fuse3'], ['fuse']],
  },
  {
    what: 'libfuse.so.2',
    for: ['bench', 'test'],
    there: () => libraryKnown('libfuse.so.2'),
    packages: [['libfuse2t64'], ['libfuse2']],
  },
  // fuse-native brings its compiled part for this platform only; elsewhere npm compiles it.
  {
    what: 'a C++ compiler',
    for: ['bench', 'test'],
    there: () => process.arch === 'x64' || (onPath('g++') && onPath('make') && onPath('python3')),
    packages: [['build-essential', 'python3', 'libfuse-dev']],
  },
  ...programs({
    'at-spi2-core': '/usr/share/dbus-1/services/org.a11y.Bus.service',
    attr: 'getfattr',
    'bash-completion': '/usr/share/bash-completion/bash_completion',
    diffutils: 'diff',
    'dbus-daemon': 'dbus-run-session',
    'emacs-nox': 'emacs',
    findutils: 'find',
    gvfs: '/usr/share/dbus-1/services/org.gtk.vfs.Daemon.service',
    'gnome-keyring': 'gnome-keyring-daemon',
    'gnuplot-nox': 'gnuplot',
    iproute2: 'ip',
    'libglib2.0-bin': 'gio',
    'libnotify-bin': 'notify-send',
    'libsecret-tools': 'secret-tool',
    'man-db': 'man',
    mawk: 'awk',
    moreutils: 'sponge',
    openbabel: 'obabel',
    openssl: 'openssl',
    procps: 'ps',
    prometheus: 'promtool',
    python3: '/usr/bin/python3',
    'redis-tools': 'redis-cli',
    tumbler: '/usr/share/dbus-1/services/org.xfce.Tumbler.Thumbnailer1.service',
    systemd: 'systemd-analyze',
    'systemd-container': 'systemd-nspawn',
    xvfb: 'Xvfb',
  }),
  ...programs(Object.fromEntries(namesakes.map(name => [name, name]))),
  ...pythonModules({
    'python3-ase': 'ase',
    'python3-cclib': 'cclib',
    'python3-gi': 'gi',
    'python3-rdkit': 'rdkit',
  }),
  ...libraries({
    'gir1.2-atspi-2.0': 'girepository-1.0/Atspi-2.0.typelib',
    'libatk-adaptor': 'gtk-2.0/modules/libatk-bridge.so',
    'libgail-common': 'gtk-2.0/modules/libgail.so',
  }),
]

/** Packages that start a service of their own, which the tests have no use for: they start a server of theirs on a free port. */
const services = ['redis-server', 'prometheus', 'prometheus-node-exporter']

/** The real programs that the tests let loose on a mount, or start beside it: package → command. */
function programs(commands) {
  return Object.entries(commands).map(([name, command]) => ({
    what: command,
    for: ['test'],
    there: () => onPath(command),
    packages: [[name]],
  }))
}

/** Debian's Python modules, which only Debian's own python3 sees: package → module. */
function pythonModules(modules) {
  return Object.entries(modules).map(([name, module]) => ({
    what: `Python's ${module}`,
    for: ['test'],
    there: () => fs.existsSync(`/usr/lib/python3/dist-packages/${module}`),
    packages: [[name]],
  }))
}

/** Files below the machine's own directory of libraries (`/usr/lib/x86_64-linux-gnu`): package → file. */
function libraries(files) {
  return Object.entries(files).map(([name, file]) => ({
    what: file,
    for: ['test'],
    there: () => fs.readdirSync('/usr/lib').some(place => fs.existsSync(join('/usr/lib', place, file))),
    packages: [[name]],
  }))
}

/** A reason to stop that the reader can act on. */
export class Stop extends Error {}

/**
 * Installs what `purpose` needs and is not there yet.
 * @param {'demo' | 'bench' | 'test'} purpose
 */
export function setUp(purpose) {
  checkNode()
  installSystemPackages(needs.filter(need => need.for.includes(purpose) && !need.there()))
  checkFuseDevice()
  installNpmPackages()
  if (purpose !== 'demo') checkBinding()
}

/**
 * Compiles when a source is newer than the last good build.
 * @returns {boolean} whether dist/ now is what the sources say
 */
export function build() {
  const stamp = join(root, 'dist', '.built')
  if (fs.existsSync(stamp) && newestSource() <= fs.statSync(stamp).mtimeMs) return true
  const began = new Date()
  say('Compiling …')
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const known = join(root, 'dist', '.tsbuildinfo')
  const flags = ['-p', root, '--incremental', '--tsBuildInfoFile', known]
  if (run(process.execPath, [compiler, ...flags]).status !== 0) return false
  if (run(process.execPath, [join(root, 'bin/bundle.mjs')]).status !== 0) return false
  removeOrphans(join(root, 'dist'))
  fs.writeFileSync(stamp, '')
  fs.utimesSync(stamp, began, began)
  return true
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  throw new Stop(`calcfs needs Node 20.19 or newer, but this is Node ${process.versions.node}.`)
}

function installSystemPackages(missing) {
  if (missing.length === 0) return
  const what = missing.map(need => need.what).join(', ')
  if (process.platform === 'darwin') throw new Stop(`Missing: ${what}. Install macFUSE, then run this again.`)
  if (!onPath('apt-get')) {
    throw new Stop(
      `Missing: ${what}. This script knows only apt-get; install them your way, then run this again.`,
    )
  }
  say(`Missing on this machine: ${what}.`)
  let fresh = false
  const refresh = () => {
    say('Asking the package servers for their current lists …')
    apt(['update', '-q'])
    fresh = true
  }
  if (missing.some(need => !choice(need))) refresh()
  const nowhere = missing.filter(need => !choice(need))
  if (nowhere.length > 0) {
    throw new Stop(
      `No package of this system brings ${nowhere.map(need => need.what).join(', ')}; install it by hand.`,
    )
  }
  const install = () => {
    const names = [...new Set(missing.filter(need => !need.there()).flatMap(choice))]
    say(`Installing the system packages ${names.join(' ')} …`)
    return apt(['install', '-y', '-q', '--no-install-recommends', ...names])
  }
  if (!install() && !fresh) {
    refresh()
    install()
  }
  const still = missing.filter(need => !need.there())
  if (still.length > 0) {
    throw new Stop(
      `apt-get could not install ${still.map(need => need.what).join(', ')}; its own words are above.`,
    )
  }
  for (const name of services) if (missing.some(need => choice(need)?.includes(name))) switchOff(name)
}

/** A service that this installation has brought. Where it does not end, it is in the way of nothing. */
function switchOff(name) {
  say(`${name} is for the tests only: its service is stopped, and not started at boot.`)
  asRoot('update-rc.d', name, 'disable')
  asRoot('invoke-rc.d', name, 'stop')
}

function choice(need) {
  return need.packages.find(names => names.every(isCandidate))
}

export function isCandidate(name) {
  const { stdout } = spawnSync('apt-cache', ['policy', name], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  return /Candidate: (?!\(none\))/.test(stdout)
}

export const apt = args => asRoot('apt-get', '-o', 'DPkg::Lock::Timeout=900', ...args)

function asRoot(...command) {
  const quiet = 'DEBIAN_FRONTEND=noninteractive'
  if (process.getuid() === 0) return run('env', [quiet, ...command]).status === 0
  if (!onPath('sudo')) {
    throw new Stop(`You are not root and there is no sudo. As root, run: ${command.join(' ')}`)
  }
  return run('sudo', ['env', quiet, ...command]).status === 0
}

function checkFuseDevice() {
  if (process.platform !== 'linux') return
  if (!fs.existsSync('/dev/fuse') && process.getuid() === 0) spawnSync('modprobe', ['fuse'])
  if (!fs.existsSync('/dev/fuse')) {
    throw new Stop(
      'There is no /dev/fuse: load the kernel module with `modprobe fuse`; ' +
        'in a container, start it with `--device /dev/fuse --cap-add SYS_ADMIN`.',
    )
  }
  try {
    fs.accessSync('/dev/fuse', fs.constants.R_OK | fs.constants.W_OK)
  } catch {
    throw new Stop('You may not open /dev/fuse: ask the administrator to allow it (`chmod 666 /dev/fuse`).')
  }
}

function installNpmPackages() {
  const added = completeLock(root)
  if (added.length > 0) say(`package-lock.json lacked ${added.join(', ')}; it has them now, commit it.`)
  if (packagesMatchLock()) return
  if (!onPath('npm'))
    throw new Stop('There is no npm on the PATH: install it beside Node, then run this again.')
  say('Installing the npm packages of package-lock.json …')
  if (npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'])) return
  throw new Stop('npm could not install the packages; its own words are above.')
}

/** npm keeps in node_modules what it installed; packages for other platforms are allowed to be missing. */
function packagesMatchLock() {
  const installed = join(root, 'node_modules/.package-lock.json')
  if (!fs.existsSync(installed)) return false
  const there = JSON.parse(fs.readFileSync(installed, 'utf8')).packages
  const wanted = JSON.parse(fs.readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  return Object.entries(wanted).every(
    ([place, { version, optional }]) =>
      place === '' || there[place]?.version === version || (optional && !there[place]),
  )
}

function checkBinding() {
  if (bindingLoads()) return
  say('Compiling fuse-native for this machine …')
  npm(['rebuild', 'fuse-native', '--loglevel=error'])
  if (bindingLoads()) return
  throw new Stop(
    'The FUSE binding (fuse-native) does not load here: `node -e "require(\'fuse-native\')"` says why.',
  )
}

function bindingLoads() {
  const binding = createRequire(import.meta.url).resolve('fuse-native')
  return spawnSync(process.execPath, ['-e', 'require(process.argv[1])', binding]).status === 0
}

/** A compile finds Node's own headers, where they lie beside it, and so downloads nothing. */
function npm(args) {
  const prefix = dirname(dirname(fs.realpathSync(process.execPath)))
  const headers = fs.existsSync(join(prefix, 'include/node/node.h')) ? { npm_config_nodedir: prefix } : {}
  return run('npm', args, { ...process.env, ...headers }).status === 0
}

function newestSource() {
  const sources = ['src', 'test', 'bench'].filter(name => fs.existsSync(join(root, name)))
  const places = sources.flatMap(name => [
    name,
    ...fs.readdirSync(join(root, name), { recursive: true }).map(below => join(name, below)),
  ])
  return Math.max(
    ...['tsconfig.json', 'package-lock.json', ...places].map(place => fs.statSync(join(root, place)).mtimeMs),
  )
}

/** A compiled file whose source is gone would still be run as a test or packed. */
function removeOrphans(dist) {
  for (const place of fs.readdirSync(dist, { recursive: true })) {
    if (!/\.js(\.map)?$/.test(place) || place.startsWith('program/')) continue
    const source = join(root, place.replace(/\.js(\.map)?$/, '.ts'))
    if (!fs.existsSync(source)) fs.rmSync(join(dist, place))
  }
}

export function onPath(command) {
  if (command.startsWith('/')) return fs.existsSync(command)
  const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return places.some(place => fs.existsSync(join(place, command)))
}

function libraryKnown(name) {
  if (process.platform === 'darwin')
    return (
      fs.existsSync('/usr/local/lib/libosxfuse.2.dylib') || fs.existsSync('/usr/local/lib/libfuse.2.dylib')
    )
  const ldconfig = ['/sbin/ldconfig', '/usr/sbin/ldconfig'].find(place => fs.existsSync(place))
  return ldconfig !== undefined && execFileSync(ldconfig, ['-p'], { encoding: 'utf8' }).includes(name)
}

function run(command, args, env = process.env) {
  return spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
}

export function say(sentence) {
  console.log(`[set-up] ${sentence}`)
}

/** Runs `work`, and turns a Stop into its sentence and exit code 1. */
export function orStop(work) {
  try {
    return work()
  } catch (reason) {
    if (!(reason instanceof Stop)) throw reason
    console.error(`[set-up] ${reason.message}`)
    process.exitCode = 1
    return undefined
  }
}

function main([option, purpose]) {
  if (option !== '--for' || !needs.some(need => need.for.includes(purpose)))
    throw new Stop('Say what for: --for demo, --for bench or --for test.')
  setUp(purpose)
  if (!build()) throw new Stop('The build failed; the compiler says above where.')
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  orStop(() => main(process.argv.slice(2)))
}
