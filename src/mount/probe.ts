// File-system calls on a mount whose daemon may hang, made in a child process: a call that waits in the kernel cannot be
// cancelled, and Node does not exit before each of its threads has returned.
import { spawn } from 'node:child_process'

/** `dead`: the daemon has ended. `silent`: no answer in time. */
export type DaemonState = 'answers' | 'dead' | 'silent'

// SIGUSR1 opens Node's debugger in this child as in any other.
const program = `
process.on('SIGUSR1', () => {})
const fs = require('node:fs'), { basename, dirname, join } = require('node:path')
const nearest = path => {
  try { return fs.realpathSync(path) } catch { return dirname(path) === path ? path : join(nearest(dirname(path)), basename(path)) }
}
const asked = { statfs: path => { fs.statfsSync(path) }, readFile: path => fs.readFileSync(path, 'utf8'), nearest }
const [, question, path] = process.argv
const answer = () => { try { return { value: asked[question](path) } } catch ({ code, message }) { return { code: code ?? message } } }
process.stdout.write(JSON.stringify(answer()))
`

type ProbeAnswer = { readonly value?: string; readonly code?: string }

/** Whether the daemon of a mount answers. A stat may be answered from the kernel's cache; statfs always reaches the daemon. */
export async function probeDaemon(path: string, milliseconds: number): Promise<DaemonState> {
  const answer = await askChild('statfs', path, milliseconds)
  if (answer === undefined) return 'silent'
  return answer.code === 'ENOTCONN' ? 'dead' : 'answers'
}

/** The text of a file; undefined where there is no answer in time, or another error. */
export async function textAt(path: string, milliseconds: number): Promise<string | 'forbidden' | undefined> {
  const answer = await askChild('readFile', path, milliseconds)
  // The mount is another user's, without allow_other; only statfs is answered then.
  return answer?.code === 'EACCES' ? 'forbidden' : answer?.value
}

/** The path without links, as far as it exists; unchanged where there is no answer in time. */
export async function withoutLinks(path: string, milliseconds: number): Promise<string> {
  // Of a path that exists the system's own program tells it, in a tenth of the time; not every system has it, or these flags.
  const told = await endOf('realpath', ['-ez', '--', path], milliseconds)
  if (told === undefined) return path
  if (/^\/[^\0]*\0$/.test(told.output)) return told.output.slice(0, -1)
  return (await askChild('nearest', path, milliseconds))?.value ?? path
}

async function askChild(
  question: 'statfs' | 'readFile' | 'nearest',
  path: string,
  milliseconds: number,
): Promise<ProbeAnswer | undefined> {
  const ended = await endOf(process.execPath, ['-e', program, question, path], milliseconds)
  if (ended?.failed !== undefined) return { code: ended.failed }
  // Nothing where another process killed the child.
  return ended === undefined || ended.output === '' ? undefined : JSON.parse(ended.output)
}

/** What a child has printed, or why there is none; undefined where it does not end in time. */
function endOf(
  command: string,
  args: readonly string[],
  milliseconds: number,
): Promise<{ readonly output: string; readonly failed?: string } | undefined> {
  // The working directory of this process may be inside the mount.
  const child = spawn(command, args, { cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] })
  return new Promise(done => {
    const pieces: Buffer[] = []
    const timer = setTimeout(() => {
      // It ends when the kernel returns; it is not waited for.
      child.kill('SIGKILL')
      child.stdout.destroy()
      child.unref()
      done(undefined)
    }, milliseconds)
    child.stdout.on('data', piece => pieces.push(piece))
    child.once('error', ({ message }) => {
      clearTimeout(timer)
      done({ output: '', failed: message })
    })
    child.once('close', () => {
      clearTimeout(timer)
      done({ output: Buffer.concat(pieces).toString() })
    })
  })
}
