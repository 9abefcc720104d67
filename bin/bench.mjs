// `npm run bench`: installs the mounts that calcfs is compared with, as far as they are to be had, builds, and measures.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apt, build, isCandidate, onPath, orStop, Stop, say, setUp } from './setup.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** package → command. Nothing here has to be there: the table names who was left out. */
const peers = {
  rclone: 'rclone',
  httpdirfs: 'httpdirfs',
  davfs2: 'mount.davfs',
  sshfs: 'sshfs',
  'openssh-server': 'sshd',
  'librsvg2-bin': 'rsvg-convert',
}

function installPeers() {
  const wanted = Object.keys(peers).filter(name => !onPath(peers[name]) && mayInstall(name))
  if (wanted.length === 0) return
  if (!onPath('apt-get')) return say(`There is no apt-get; ${wanted.join(', ')} will be left out.`)
  say(`To compare with: ${wanted.join(', ')}.`)
  try {
    if (wanted.some(name => !isCandidate(name))) apt(['update', '-q'])
    const there = wanted.filter(isCandidate)
    if (there.length > 0) apt(['install', '-y', '-q', '--no-install-recommends', ...there])
  } catch (reason) {
    if (!(reason instanceof Stop)) throw reason
    say(`${reason.message} They are left out.`)
  }
}

/** Where services are started by themselves, installing sshd would open this machine to others: its owner may do that. */
function mayInstall(name) {
  if (name !== 'openssh-server' || !fs.existsSync('/run/systemd/system')) return true
  say(
    'sshfs is compared only where sshd is installed; here it would be started for everybody, so it is left out.',
  )
  return false
}

/** Nothing is installed for a question. */
const isQuestion = process.argv.includes('--help') || process.argv.includes('--plan')

const built = orStop(() => {
  setUp('bench')
  if (!isQuestion) installPeers()
  if (!build()) throw new Stop('The build failed; the compiler says above where.')
  return true
})
if (built) measure()

/** With a channel to it, over which it hears that this process has gone, and ends. */
function measure() {
  const words = [join(root, 'dist/bench/run.js'), ...process.argv.slice(2)]
  const run = spawn(process.execPath, words, { cwd: root, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => run.kill(name))
  run.once('exit', code => {
    process.exitCode = code ?? 1
  })
}
