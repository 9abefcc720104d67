// sshfs, over a private sshd of this run: own keys, 127.0.0.1 only, gone with the mount.
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { commandPath, lastWords, mountWith, needs, type Peer, type Place, startProgram } from './peers.js'

const run = promisify(execFile)

/** sshfs 3 with as many connections as it may have, and everything cached for ten minutes. */
const options =
  'ro,max_conns=8,kernel_cache,dir_cache=yes,dcache_timeout=600,dcache_max_size=200000,entry_timeout=600,attr_timeout=600'

/** sshfs on a server of the same machine. */
export const sshfs: Peer = {
  name: 'sshfs',
  options: `-o ${options}`,
  counted: false,
  lacks: needs('sshfs', 'sshd', 'ssh-keygen'),
  async mount(doors, place) {
    const server = await startServer(place)
    const way = await doors.delayed(server.port)
    const end = async (): Promise<void> => {
      server.stop()
      await way.stop()
    }
    try {
      await writeKnownHost(place, way.port)
      const mounted = await mountWith({ command: 'sshfs', args: client(doors.disk, place, way.port) }, place)
      return {
        ...mounted,
        async unmount() {
          await mounted.unmount()
          await end()
        },
      }
    } catch (thrown) {
      await end()
      throw thrown
    }
  },
}

const keys = (place: Place) => ({
  host: join(place.cache, 'host-key'),
  user: join(place.cache, 'user-key'),
  known: join(place.cache, 'known-hosts'),
})

function client(directory: string, place: Place, port: number): readonly string[] {
  const { user, known } = keys(place)
  const ssh = [`IdentityFile=${user}`, `UserKnownHostsFile=${known}`, 'IdentitiesOnly=yes', 'BatchMode=yes']
  return [
    ...['-f', `${userInfo().username}@127.0.0.1:${directory}`, place.mountPoint],
    ...['-F', '/dev/null', '-p', String(port), '-o', options],
    ...ssh.flatMap(option => ['-o', option]),
  ]
}

async function writeKnownHost(place: Place, port: number): Promise<void> {
  const { host, known } = keys(place)
  const { stdout } = await run('ssh-keygen', ['-y', '-f', host])
  writeFileSync(known, `[127.0.0.1]:${port} ${stdout}`)
}

/** A server for this user alone; it refuses every key but the one just made. */
async function startServer(place: Place): Promise<{ readonly port: number; stop(): void }> {
  const { host, user } = keys(place)
  for (const file of [host, user])
    await run('bash', ['-c', '[ -e "$0" ] || ssh-keygen -q -t ed25519 -N "" -f "$0"', file])
  // As root, sshd wants this directory, which only a started system makes.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const port = await freePort()
  const settings = `
Port ${port}
ListenAddress 127.0.0.1
HostKey ${host}
AuthorizedKeysFile ${user}.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
MaxStartups 100
MaxSessions 100
Subsystem sftp internal-sftp
`
  const file = join(place.cache, 'sshd-config')
  writeFileSync(file, settings)
  const command = commandPath('sshd') ?? 'sshd'
  const server = startProgram({ command, args: ['-D', '-e', '-f', file] }, place.log)
  for (let attempt = 0; !(await answers(port)); attempt++) {
    if (attempt > 200 || server.exitCode !== null) {
      server.kill()
      throw new Error(`sshd does not listen: ${lastWords(place.log)}`)
    }
    await wait(20)
  }
  return { port, stop: () => void server.kill() }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject()))
    })
  })
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    const say = (is: boolean) => () => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', say(true)).once('error', say(false))
  })
}
