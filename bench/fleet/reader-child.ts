// A reader of a mount at an even pace, in an order of its own: the longest time of any of its calls, and what failed.
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathsOf } from '../trees/paths.js'
import { drawFrom } from '../trees/seed.js'
import { treeOf } from '../trees/trees.js'

export interface ReaderJob {
  /** The top of the lab. */
  readonly root: string
  readonly seed: number
  readonly seconds: number
  /** Seconds after which the longest call is looked for. */
  readonly from: number
  /** Milliseconds between the beginnings of two files. */
  readonly pace: number
}

export interface ReaderFound {
  readonly calls: number
  readonly longest: { readonly milliseconds: number; readonly call: string; readonly after: number }
  readonly failures: readonly string[]
}

const pieceBytes = 128 * 1024

function drawnFiles(seed: number): readonly { path: string; size: number }[] {
  const tree = treeOf('lab')
  const paths = pathsOf(tree)
  const draw = drawFrom(seed)
  return tree.projects
    .flatMap(project =>
      Array.from({ length: project.count }, (_, at) => paths.calculationAt(project, at)).flatMap(
        calculation =>
          paths.files(calculation).map(({ name, size }) => ({
            path: join(project.name, calculation.name, name),
            size,
            place: draw(0, 1_000_000),
          })),
      ),
    )
    .sort((one, other) => one.place - other.place)
}

async function main({ root, seed, seconds, from: since, pace }: ReaderJob): Promise<ReaderFound> {
  const into = Buffer.alloc(pieceBytes)
  const failures: string[] = []
  let calls = 0
  let longest = { milliseconds: 0, call: '', after: 0 }
  const began = performance.now()

  function timed<Value>(call: string, work: () => Value): Value {
    const from = performance.now()
    try {
      return work()
    } finally {
      calls += 1
      const [end, milliseconds] = [performance.now(), performance.now() - from]
      if (end - began >= since * 1_000 && milliseconds > longest.milliseconds)
        longest = { milliseconds, call, after: from - began }
    }
  }

  function readWhole(path: string, size: number): void {
    const told = timed(`stat ${path}`, () => statSync(join(root, path)).size)
    const file = timed(`open ${path}`, () => openSync(join(root, path), 'r'))
    let at = 0
    for (let got = 1; got > 0; at += got)
      got = timed(`read ${path} ${at}`, () => readSync(file, into, 0, pieceBytes, at))
    timed(`close ${path}`, () => closeSync(file))
    if (told !== size || at !== size) failures.push(`${path}: ${told} and ${at} bytes instead of ${size}`)
  }

  for (const { path, size } of drawnFiles(seed)) {
    const from = performance.now()
    if (from - began > seconds * 1_000) break
    try {
      readWhole(path, size)
    } catch (thrown) {
      failures.push(`${path}: ${String(thrown)}`)
    }
    await wait(Math.max(1, pace - (performance.now() - from)))
  }
  return { calls, longest, failures }
}

process.once('disconnect', () => process.exit(1))
process.send?.(await main(JSON.parse(process.argv[2] ?? '{}') as ReaderJob))
process.disconnect()
