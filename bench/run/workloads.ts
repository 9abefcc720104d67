// Workloads: what users and programs do on a drive, as shell lines, and how each result is compared with the truth.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { seed } from '../trees/seed.js'
import type { TreeName } from '../trees/trees.js'

/** Where a workload runs, and what came of it. */
export interface Outcome {
  /** The top of the tree in the mount. */
  readonly root: string
  /** A directory in memory, or else on the local disk, for output and copies. */
  readonly scratch: string
  readonly output: string
  readonly complaint: string
}

export interface Workload {
  /** For `--work` and in files. */
  readonly name: string
  /** For the table. */
  readonly title: string
  readonly tree: TreeName
  /** Below the tree's top. */
  readonly within: string
  /** A line for bash, run in that directory; $SCRATCH is the directory for copies, $CHILD the reading program. */
  readonly line: string
  /** The result in a form that is the same for every correct mount; taken after the clock has stopped. */
  readonly result: (outcome: Outcome) => Promise<string>
  /** The output is `{ seconds, result }` of the reading program, whose start is no part of the time. */
  readonly ownClock?: true
}

const child = fileURLToPath(new URL('workloads-child.js', import.meta.url))

/** The environment of a workload's line. */
export const environmentOf = (scratch: string): Readonly<Record<string, string>> => ({
  SCRATCH: scratch,
  CHILD: `${process.execPath} ${child}`,
})

const program = (words: string): string => `$CHILD ${words}`

const outs = "find . -name '*.out' -print0 | sort -z"
const firstProjects = '$(ls -d project-* | head -n 4)'
const trajectory = 'dynamics/calc-001/trajectory.trj'

const sha = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** What one mount alone adds to the tree: calcfs its records, whose names begin with a dot, davfs2 an empty folder. */
const ownNames = /(^|[/ ])(\.[^/. ]|lost\+found)/

/** Lines in any order. */
const plainLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter(line => line !== '' && !ownNames.test(line))
    .sort()

const counted = (lines: readonly string[], what: string): string =>
  `${lines.length} ${what} ${sha(lines.join('\n'))}`

/** Names and sizes; owners, modes and dates may differ between correct mounts. */
async function longListing({ output }: Outcome): Promise<string> {
  let directory = ''
  const entries = output.split('\n').flatMap(line => {
    if (/^\.?\/?.*:$/.test(line) && !/^[-dl]r/.test(line)) directory = line.slice(0, -1)
    const [, kind, size, name] = /^([-dl])\S+ +\d+ \S+ +\S+ +(\d+) \S+ +\d+ +[\d:]+ (.*)$/.exec(line) ?? []
    if (kind === undefined || name === undefined || name === 'lost+found') return []
    return [kind === 'd' ? `${directory}/${name}/` : `${directory}/${name} ${size}`]
  })
  return counted(entries.sort(), 'entries')
}

const names = async ({ output }: Outcome): Promise<string> => counted(plainLines(output), 'names')
const wholeOutput = async ({ output }: Outcome): Promise<string> => counted(plainLines(output), 'lines')
const bytes = async ({ scratch }: Outcome): Promise<string> =>
  sha(await readFile(join(scratch, 'output'), 'latin1'))

/** dd's own count, also where eight write into one another; what the bytes are, the random reads of the same run check. */
async function ddBytes({ complaint }: Outcome): Promise<string> {
  const counts = [...complaint.matchAll(/(\d+) bytes \(/g)].map(([, count]) => count)
  return `bytes ${counts.join(' ')}`
}

async function copied({ scratch }: Outcome): Promise<string> {
  const files = await contents(join(scratch, 'copy'), '')
  return counted([...files].sort(), 'files')
}

async function contents(directory: string, below: string): Promise<readonly string[]> {
  const entries = await readdir(join(directory, below), { withFileTypes: true })
  const shown = entries.filter(({ name }) => !name.startsWith('.') && name !== 'lost+found')
  const found: string[] = []
  for (const entry of shown) {
    const path = `${below}/${entry.name}`
    if (entry.isDirectory()) found.push(...(await contents(directory, path)))
    else found.push(`${path} ${await digestOf(join(directory, path))}`)
  }
  return found
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('md5')
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash)
  return hash.digest('hex')
}

const ownResult = async ({ output }: Outcome): Promise<string> => JSON.stringify(JSON.parse(output).result)

/** `ls -lR` forwards and backwards at the same time: each entry is seen twice. */
const twoListings =
  'ls -lR . >"$SCRATCH/one" & ls -lrR . >"$SCRATCH/two"; wait; cat "$SCRATCH/one" "$SCRATCH/two"'

const osWalk = `python3 -c '
import os
for top, folders, files in os.walk("."):
    for name in files:
        path = os.path.join(top, name)
        if not name.startswith("."):
            print(path, os.stat(path).st_size)
'`

const all: readonly Workload[] = [
  { name: 'ls-lR', title: '`ls -lR`', tree: 'lab', within: '', line: 'ls -lR .', result: longListing },
  { name: 'find', title: '`find`', tree: 'lab', within: '', line: 'find .', result: names },
  {
    name: 'ls-lrR',
    title: '`ls -lrR`, backwards',
    tree: 'lab',
    within: '',
    line: 'ls -lrR .',
    result: longListing,
  },
  {
    name: 'walk-shuffled',
    title: `every folder's files in shuffled order (seed ${seed})`,
    tree: 'lab',
    within: '',
    line: program(`walk shuffled ${seed}`),
    result: ownResult,
    ownClock: true,
  },
  {
    name: 'walk-scattered',
    title: `the calculations of all projects in shuffled order (seed ${seed})`,
    tree: 'lab',
    within: '',
    line: program(`walk scattered ${seed}`),
    result: ownResult,
    ownClock: true,
  },
  {
    name: 'walk-locale',
    title: "every folder's files in a locale's order",
    tree: 'lab',
    within: '',
    line: program('walk locale'),
    result: ownResult,
    ownClock: true,
  },
  {
    name: 'os-walk',
    title: "Python's `os.walk` with a `stat` each",
    tree: 'lab',
    within: '',
    line: osWalk,
    result: wholeOutput,
  },
  {
    name: 'ls-two',
    title: '`ls -lR` and `ls -lrR` at once',
    tree: 'lab',
    within: '',
    line: twoListings,
    result: longListing,
  },
  {
    name: 'cp-reverse',
    title: '`cp -r` of each project, the last one first',
    tree: 'lab',
    within: '',
    line: 'mkdir "$SCRATCH/copy" && cp -r $(ls -dr [!.]*) "$SCRATCH/copy"',
    result: copied,
  },
  {
    name: 'ls-deep',
    title: '`ls -lR`, 12 levels',
    tree: 'deep',
    within: '',
    line: 'ls -lR .',
    result: longListing,
  },
  {
    name: 'ls-wide',
    title: '`ls -l` of 5,000',
    tree: 'wide',
    within: 'wide',
    line: 'ls -l .',
    result: longListing,
  },
  {
    name: 'cp',
    title: '`cp -r`, all',
    tree: 'lab',
    within: '',
    line: 'mkdir "$SCRATCH/copy" && cp -r . "$SCRATCH/copy"',
    result: copied,
  },
  {
    name: 'cp-part',
    title: '`cp -r`, 4 projects of 20',
    tree: 'lab',
    within: '',
    line: `mkdir "$SCRATCH/copy" && cp -r ${firstProjects} "$SCRATCH/copy"`,
    result: copied,
  },
  ...[1, 8].map(
    (at): Workload => ({
      name: `md5-P${at}`,
      title: `md5sum of every \`.out\`, -P${at}`,
      tree: 'lab',
      within: '',
      line: `${outs} | xargs -0 -n 16 -P ${at} md5sum`,
      result: wholeOutput,
    }),
  ),
  ...[1, 8].map(
    (at): Workload => ({
      name: `md5-part-P${at}`,
      title: `md5sum of the \`.out\` of 4 projects, -P${at}`,
      tree: 'lab',
      within: '',
      line: `${outs.replace('.', firstProjects)} | xargs -0 -n 16 -P ${at} md5sum`,
      result: wholeOutput,
    }),
  ),
  {
    name: 'grep',
    title: '`grep -r`, 4 projects',
    tree: 'lab',
    within: '',
    line: `grep -rc 'FINAL SINGLE POINT ENERGY  *-12' ${firstProjects} --include='*.out' --include='*.log'`,
    result: wholeOutput,
  },
  {
    name: 'analysis',
    title: 'a script: open, parse, close each `.out` of 4 projects',
    tree: 'lab',
    within: '',
    line: program(`analysis ${firstProjects}`),
    result: ownResult,
    ownClock: true,
  },
  {
    name: 'folder',
    title: 'a file manager opens one folder',
    tree: 'lab',
    within: '',
    line: program('folder project-02/calc-002'),
    result: ownResult,
    ownClock: true,
  },
  {
    name: 'stats',
    title: '2,000 stats',
    tree: 'lab',
    within: '',
    line: program('stats 2000'),
    result: ownResult,
    ownClock: true,
  },
  {
    name: 'dd',
    title: 'the big file, sequentially',
    tree: 'big',
    within: '',
    line: `dd if=${trajectory} of=/dev/null bs=1M`,
    result: ddBytes,
  },
  {
    name: 'head',
    title: 'its first 4 KiB',
    tree: 'big',
    within: '',
    line: `head -c 4096 ${trajectory}`,
    result: bytes,
  },
  {
    name: 'tail',
    title: 'its last 4 KiB',
    tree: 'big',
    within: '',
    line: `tail -c 4096 ${trajectory}`,
    result: bytes,
  },
  {
    name: 'readers8',
    title: '8 readers of it',
    tree: 'big',
    within: '',
    line: `for at in 1 2 3 4 5 6 7 8; do dd if=${trajectory} of=/dev/null bs=1M & done; wait`,
    result: ddBytes,
  },
  {
    name: 'random',
    title: '100 random reads of 4 KiB in it',
    tree: 'big',
    within: '',
    line: program(`random ${trajectory} 100`),
    result: ownResult,
    ownClock: true,
  },
]

/** The workload of that name. */
export const workload = (name: string): Workload | undefined => all.find(one => one.name === name)

/** Every name, in the order of the table. */
export const workloadNames: readonly string[] = all.map(({ name }) => name)

/** What can be done on any small tree. */
export const everywhere: readonly string[] = [
  ...['ls-lR', 'ls-lrR', 'walk-shuffled', 'walk-scattered', 'walk-locale', 'os-walk', 'ls-two', 'cp-reverse'],
  ...['find', 'cp', 'cp-part', 'md5-P1', 'md5-P8', 'grep', 'analysis', 'folder', 'stats'],
]
/** Those that name projects, which a drawn tree does not have: there a fifth would be nothing. */
const named: readonly string[] = ['cp-part', 'grep', 'analysis', 'folder']
const withThoseNames: readonly TreeName[] = ['lab', 'small']

/** The tree for a workload where another one is asked for. */
export function treeFor({ name, tree }: Workload, asked: TreeName | undefined): TreeName {
  if (asked === undefined || !everywhere.includes(name)) return tree
  return named.includes(name) && !withThoseNames.includes(asked) ? tree : asked
}
