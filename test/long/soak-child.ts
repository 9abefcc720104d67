// One program of the soak: file operations that wait, one after another, until the time is over; what fails is counted by its errno.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { type Chance, chance } from './chance.js'

export type Mix = 'walks' | 'reads' | 'edits' | 'making' | 'outages' | 'all at once'

/** What the parent hands over as JSON in the first argument. */
export interface Job {
  readonly directory: string
  readonly mix: Mix
  readonly seed: number
  /** Milliseconds since 1970. */
  readonly until: number
  /** A report that no other program of the soak edits. */
  readonly report: string
  /** The SHA-256 of each file's content, by its path below the mount. */
  readonly contents: Readonly<Record<string, string>>
}

/** What the child prints as JSON. */
export interface Soaked {
  readonly operations: number
  /** How many operations ended so. */
  readonly failures: Readonly<Record<string, number>>
  readonly wrong: readonly string[]
}

export function soak(job: Job): Soaked {
  const pick = chance(job.seed)
  const failures: Record<string, number> = {}
  const wrong: string[] = []
  let operations = 0
  let made = 0

  /** One system call, or a few that are one to a program; undefined where it failed. */
  function attempt<Value>(work: () => Value, path = ''): Value | undefined {
    operations++
    try {
      return work()
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown)) throw thrown
      const name = 'errno' in thrown && thrown.errno === -staleErrno ? 'ESTALE' : String(thrown.code)
      // Another program of the soak may have taken away what it had made, between its listing and this.
      if (name === 'ENOENT' && /(^|[/])(made|scratch-)/.test(path)) return undefined
      failures[name] = (failures[name] ?? 0) + 1
      return undefined
    }
  }
  const at = (path: string) => join(job.directory, path)

  function walk(path: string, depth: number): void {
    const entries = attempt(() => fs.readdirSync(at(path), { withFileTypes: true }), path) ?? []
    for (const entry of entries) {
      const below = `${path}/${entry.name}`
      attempt(() => fs.lstatSync(at(below)), below)
      if (entry.isDirectory() && depth > 0) walk(below, depth - 1)
    }
  }

  function read(): void {
    const path = pick.of(Object.keys(job.contents))
    const bytes = attempt(() => fs.readFileSync(at(path)))
    if (bytes === undefined) return
    const found = createHash('sha256').update(bytes).digest('hex')
    if (found !== job.contents[path]) wrong.push(`${path}: ${bytes.length} bytes that are not the file's`)
  }

  function readRecord(): void {
    attempt(() =>
      fs.readFileSync(
        at(
          pick.of([
            'reports/42.json',
            'projects/Water splitting/.project.json',
            'reports/INDEX.tsv',
            '.calcfs/status.json',
          ]),
        ),
      ),
    )
  }

  function edit(): void {
    const path = at(`reports/${job.report}.json`)
    const text = attempt(() => fs.readFileSync(path, 'utf8'))
    if (text === undefined) return
    const title = pick.word(5, 40)
    const saved = attempt(() => {
      fs.writeFileSync(path, text.replace(/"title": "[^"]*"/, `"title": "${title}"`))
      return true
    })
    const now = saved && attempt(() => fs.readFileSync(path, 'utf8'))
    if (typeof now === 'string' && !now.includes(title))
      wrong.push(`report ${job.report} does not show ${title}`)
  }

  function make(): void {
    const parent = 'projects/Water splitting/Sub project'
    const name = `made ${job.report} ${++made}`
    attempt(() => fs.mkdirSync(at(`${parent}/${name}`)))
    attempt(() => fs.renameSync(at(`${parent}/${name}`), at(`${parent}/${name} too`)))
    attempt(() => fs.lstatSync(at(`${parent}/${name} too`)))
    attempt(() => fs.rmdirSync(at(`${parent}/${name} too`)))
    const scratch = at(`reports/scratch-${job.report}.tmp`)
    attempt(() => fs.writeFileSync(scratch, pick.bytes(pick.whole(1, 50_000))))
    attempt(() => fs.unlinkSync(scratch))
  }

  const works: Readonly<Record<Mix, readonly ((pick: Chance) => void)[]>> = {
    walks: [() => walk('projects', 3), () => walk('reports', 1), () => walk('by-id', 0)],
    reads: [read, read, read, readRecord],
    edits: [edit, readRecord],
    making: [make],
    outages: [() => walk('projects', 3), read, edit],
    'all at once': [() => walk('projects', 3), read, read, readRecord, edit, make],
  }
  while (Date.now() < job.until && wrong.length < 5) pick.of(works[job.mix])(pick)
  return { operations, failures, wrong }
}

const staleErrno = 116 // ESTALE, which Node has no name for

const [given] = process.argv.slice(2)
if (given !== undefined) process.stdout.write(JSON.stringify(soak(JSON.parse(given) as Job)))
