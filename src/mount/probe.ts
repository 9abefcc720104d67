// File-system calls on a mount whose daemon may hang, made in a child process: a call that waits in the kernel cannot be
// cancelled, and Node does not exit before each of its threads has returned.
import { spawn } from 'node:child_process'

/** `dead`: the daemon has ended. `silent`: no answer in time. */
export type DaemonState = 'answers' | 'dead' | 'silent'

// SIGUSR1 opens Node's debugger in this child as in any other.
const program = `
process.on('SIGUSR1', () => {})
const fs = require('node:fs')
const asked = { statfs: path => { fs.statfsSync(path) }, readFile: path => fs.readFileSync(path, 'utf8') }
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

async function askChild(
  question: 'statfs' | 'readFile',
  path: string,
  milliseconds: number,
): Promise<ProbeAnswer | undefined> {
  // The working directory of this process may be inside the mount.
  const child = spawn(process.execPath, ['-e', program, question, path], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const output = await new Promise<string>(done => {
    let told = ''
    const timer = setTimeout(() => {
      // It ends when the kernel returns; it is not waited for.
      child.kill('SIGKILL')
      child.stdout.destroy()
      child.unref()
      done('')
    }, milliseconds)
    child.stdout.on('data', piece => {
      told += piece
    })
    for (const event of ['error', 'close'])
      child.once(event, () => {
        clearTimeout(timer)
        done(told)
      })
  })
  // Nothing in time, or where another process killed the child.
  return output === '' ? undefined : JSON.parse(output)
}
