// Mounts of the bench: which the kernel lists, and how each is taken away even where the program behind it hangs.
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds that a command of this file may take: one that asks a hanging program for its mount never ends. */
const patience = 5_000
/** Milliseconds that a mount may be busy, as it is while the killed commands in it end. */
const busyFor = 4_000

/** A line of /proc/self/mountinfo. */
interface Line {
  readonly directory: string
  /** The name of its connection below /sys/fs/fuse/connections. */
  readonly device: string
}

async function lines(): Promise<readonly Line[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8')
  return text.split('\n').flatMap(line => {
    const [, , device = '', , directory] = line.split(' ')
    return directory === undefined ? [] : [{ directory, device: device.split(':')[1] ?? '' }]
  })
}

/** Whether the kernel lists a mount exactly here. */
export async function isMounted(directory: string): Promise<boolean> {
  return (await lines()).some(line => line.directory === directory)
}

/** The directories at or below this one that are mounted, the inner ones first. */
export async function mountsBelow(base: string): Promise<readonly string[]> {
  const all = (await lines()).map(({ directory }) => directory)
  return all.filter(directory => directory === base || directory.startsWith(`${base}/`)).reverse()
}

/**
 * The exit status of a command; its output is ignored. One that takes too long is killed and not waited for: while it
 * waits in the kernel for a program that has stopped, it cannot end.
 */
export function quiet(command: string, args: readonly string[]): Promise<number | null> {
  return new Promise(resolve => {
    const child = spawn(command, args, { stdio: 'ignore' })
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      child.unref()
      resolve(null)
    }, patience)
    child.once('exit', resolve).once('error', () => resolve(null))
    child.once('exit', () => clearTimeout(late)).once('error', () => clearTimeout(late))
  })
}

/** Unmounts in order, so that the program can write down what it keeps; where that fails, by force. */
export async function unmount(mountPoint: string): Promise<void> {
  // Without a helper: that of davfs2 looks every three seconds whether its program has ended.
  const tool = process.getuid?.() === 0 ? ['umount', '-i'] : ['fusermount', '-u']
  const [command = '', ...args] = tool
  const limit = Date.now() + busyFor
  while ((await isMounted(mountPoint)) && Date.now() < limit) {
    if ((await quiet(command, [...args, mountPoint])) !== 0) await wait(100)
  }
  if (!(await isMounted(mountPoint))) return
  await abort(mountPoint)
  if ((await quiet('fusermount', ['-uz', mountPoint])) !== 0) await quiet('umount', ['-l', mountPoint])
}

/** Every call that waits for the program behind the mount fails now. */
async function abort(mountPoint: string): Promise<void> {
  const line = (await lines()).find(({ directory }) => directory === mountPoint)
  if (line === undefined) return
  // It is no FUSE mount, or has gone meanwhile.
  await writeFile(`/sys/fs/fuse/connections/${line.device}/abort`, '1').catch(() => undefined)
}
