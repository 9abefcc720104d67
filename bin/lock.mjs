// Keeps package-lock.json complete: `npm ci` refuses a lock that lacks another platform's optional packages.
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a platform package's name says of itself: `@scope/cli-linux-x64-musl`. */
const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
const processors = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
]
const exact = /^\d+\.\d+\.\d+(-[\w.-]+)?$/
const libraries = { musl: 'musl', gnu: 'glibc', glibc: 'glibc' }

/**
 * A registry that lacks a platform's package lets `npm install` write a lock without it, and `npm ci` then fails everywhere.
 * The version is the exact one that the depending package names; a checksum is not known here, and npm asks for none.
 * @returns the lock with an entry for each optional package, and the names of those that were added
 */
export function completed(lock) {
  const packages = { ...lock.packages }
  const added = []
  for (const [place, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      // A range names no version; what npm then says of such a lock is the better sentence.
      if (!exact.test(version) || found(packages, place, name)?.version === version) continue
      const top = `node_modules/${name}`
      packages[packages[top] === undefined ? top : `${place}/${top}`] = entry(name, version, dev)
      added.push(name)
    }
  }
  const sorted = Object.entries(packages).sort(([one], [other]) => one.localeCompare(other, 'en'))
  return { lock: { ...lock, packages: Object.fromEntries(sorted) }, added }
}

/** As Node looks for a package: next to the one that needs it, then further up. */
function found(packages, place, name) {
  const levels = place.split('/node_modules/')
  const at = levels.map((_, index) => levels.slice(0, levels.length - index).join('/node_modules/'))
  const places = [...at.filter(Boolean).map(level => `${level}/node_modules/${name}`), `node_modules/${name}`]
  return places.map(key => packages[key]).find(known => known !== undefined)
}

function entry(name, version, dev) {
  const words = name.split('/').at(-1).split('-')
  const first = table => words.find(word => table.includes(word))
  const cpu = first(processors)
  const libc = libraries[first(Object.keys(libraries))]
  const os = first(systems)
  return {
    version,
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(dev === true ? { dev } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  }
}

/** Completes the lock of a directory. @returns the names that were added */
export function completeLock(directory) {
  const file = join(directory, 'package-lock.json')
  const { lock, added } = completed(JSON.parse(fs.readFileSync(file, 'utf8')))
  if (added.length > 0) fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
  return added
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const directory = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)))
  const added = completeLock(directory)
  console.log(
    added.length === 0 ? 'package-lock.json is complete.' : `added to package-lock.json: ${added.join(', ')}`,
  )
}
