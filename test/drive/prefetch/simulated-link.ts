// A link and a tree in virtual time: what programs wait for, what is foreseen for them, and what was asked in vain.
import type { Catalog } from '../../../src/cache/metadata/catalog.js'
import type { ContentNode, Dentry, DirectoryNode } from '../../../src/drive/nodes/node.js'
import { openPrefetcher, type Prefetcher } from '../../../src/drive/prefetch/prefetcher.js'
import type { Clock } from '../../../src/remote/clock.js'
import {
  byteCount,
  type CalculationId,
  type Content,
  type FileTitle,
  instant,
  type ProjectId,
  type RequestContext,
} from '../../../src/remote/remote.js'

/** A project with what is in it, or a calculation, which has files alone. */
export interface Folder {
  readonly name: string
  readonly folders: readonly Folder[]
  readonly files: readonly { readonly name: string; readonly bytes: number }[]
  readonly kind: 'project' | 'calculation'
}

export interface SimulatedLink {
  readonly prefetcher: Prefetcher
  /** Virtual milliseconds. */
  now(): number
  sleep(milliseconds: number): Promise<void>
  /** What one program does, each call as the kernel passes it on. */
  list(path: string): Promise<Folder>
  stat(path: string): Promise<void>
  read(path: string): Promise<void>
  /** Runs until the work is done, and then as long as something is on its way. */
  run(work: () => Promise<unknown>): Promise<number>
  readonly asked: readonly Question[]
  /** Guesses under way side by side, at most. */
  readonly guessesAtMost: number
}

export interface Question {
  readonly what: string
  readonly by: 'user' | 'guess'
  readonly at: number
  /** A program has had this answer. */
  used: boolean
  readonly bytes: number
}

/** Questions under way side by side at most; of them guesses. */
export interface Width {
  readonly slots: number
  readonly guesses: number
}

const endless = 600_000

export function simulatedLink(
  root: Folder,
  { slots, guesses }: Width,
  milliseconds = 30,
  cacheBytes = 2 ** 32,
): SimulatedLink {
  let time = 0
  const timers: { due: number; action: () => void }[] = []
  const waiting: { readonly by: 'user' | 'guess'; readonly go: () => void }[] = []
  let underWay = 0
  let guessing = 0
  let guessesAtMost = 0
  const asked: Question[] = []
  const answers = new Map<string, { promise: Promise<void>; question: Question; done: boolean }>()

  const clock: Clock = {
    now: () => instant(time),
    after(wait, action) {
      const timer = { due: time + wait, action }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer) >>> 0, 1)
    },
  }
  const sleep = (wait: number): Promise<void> => new Promise(wake => clock.after(wait, wake))

  async function slot(by: 'user' | 'guess'): Promise<void> {
    if (underWay < slots) {
      underWay += 1
      return
    }
    await new Promise<void>(go => waiting.push({ by, go }))
  }

  function leave(): void {
    const next = waiting.find(({ by }) => by === 'user') ?? waiting[0]
    if (next === undefined) underWay -= 1
    else {
      waiting.splice(waiting.indexOf(next), 1)
      next.go()
    }
  }

  /** One question for all who ask the same. */
  async function ask(what: string, by: 'user' | 'guess', bytes = 0): Promise<void> {
    const known = answers.get(what)
    if (known !== undefined) {
      if (by === 'user') known.question.used = true
      return known.promise
    }
    const question = { what, by, at: time, used: by === 'user', bytes }
    asked.push(question)
    const answer = { promise: Promise.resolve(), question, done: false }
    answers.set(what, answer)
    answer.promise = (async () => {
      if (by === 'guess') {
        guessing += 1
        guessesAtMost = Math.max(guessesAtMost, guessing)
      }
      await slot(by)
      await sleep(milliseconds)
      leave()
      if (by === 'guess') guessing -= 1
      answer.done = true
    })()
    return answer.promise
  }

  const folders = new Map<string, Folder>([
    ['', root],
    ['/projects', root],
  ])
  /** Found through the folder above, all of whose folders are then known by their paths. */
  const at = (path: string): Folder => {
    const known = folders.get(path)
    if (known !== undefined) return known
    const above = path.slice(0, path.lastIndexOf('/'))
    for (const below of at(above).folders) folders.set(`${above}/${below.name}`, below)
    const found = folders.get(path)
    if (found === undefined) throw new Error(`there is no ${path}`)
    return found
  }
  const ids = new Map<string, DirectoryNode>()
  const nodeAt = (path: string): DirectoryNode => {
    const known = ids.get(path)
    if (known !== undefined) return known
    const node: DirectoryNode =
      at(path).kind === 'project'
        ? { kind: 'project', id: path as ProjectId }
        : { kind: 'calculation', id: path as CalculationId, title: path }
    ids.set(path, node)
    return node
  }
  /** Each made once, so that a walk through many entries costs little. */
  const entries = new Map<string, ReadonlyMap<string, Dentry>>()
  const namedIn = (path: string): ReadonlyMap<string, Dentry> => {
    const known = entries.get(path)
    if (known !== undefined) return known
    const { folders, files } = at(path)
    const made = [
      ...folders.map(({ name }): Dentry => ({ name, node: nodeAt(`${path}/${name}`) })),
      ...files.map(({ name }): Dentry => {
        const content: Content = { of: 'file', calculation: path as CalculationId, title: name as FileTitle }
        return { name, node: { kind: 'content', content } }
      }),
    ]
    const named = new Map(made.map(entry => [entry.name, entry]))
    entries.set(path, named)
    return named
  }
  const entriesOf = (path: string): Dentry[] => [...namedIn(path).values()]
  const entryAt = (path: string): Dentry => {
    const slash = path.lastIndexOf('/')
    const entry = namedIn(path.slice(0, slash)).get(path.slice(slash + 1))
    if (entry === undefined) throw new Error(`there is no ${path}`)
    return entry
  }
  const pathOf = (node: DirectoryNode): string => ('id' in node ? String(node.id) : '')
  const contentPath = (content: Content): string => `${content.calculation}/${content.title}`
  const bytesOf = (path: string): number => {
    const above = path.slice(0, path.lastIndexOf('/'))
    return at(above).files.find(({ name }) => `${above}/${name}` === path)?.bytes ?? 0
  }
  const isKnown = (what: string): boolean => answers.get(what)?.done === true

  const prefetcher = openPrefetcher({
    catalog: {
      children: (id: ProjectId) => ({ known: () => (isKnown(`list ${id}`) ? {} : undefined) }),
    } as unknown as Catalog,
    content: {
      async size(content) {
        const path = contentPath(content)
        if (!isKnown(`body ${path}`)) await ask(`size ${path}`, 'guess')
        return byteCount(bytesOf(path))
      },
      async prefetch(content, _context, most) {
        const path = contentPath(content)
        const bytes = bytesOf(path)
        if (bytes <= most) await ask(`body ${path}`, 'guess', bytes)
        return bytes
      },
      isKept: content => isKnown(`body ${contentPath(content)}`),
      knownSize: content => {
        const path = contentPath(content)
        return isKnown(`body ${path}`) || isKnown(`size ${path}`) ? byteCount(bytesOf(path)) : undefined
      },
    },
    tree: {
      async list(node: DirectoryNode, _context: RequestContext) {
        await ask(`list ${pathOf(node)}`, 'guess')
        return entriesOf(pathOf(node))
      },
      directory: async path => nodeAt(path),
    },
    room: () => guesses,
    cacheBytes,
    names: 200_000,
    clock,
  })

  return {
    prefetcher,
    now: () => time,
    sleep,
    async list(path) {
      await ask(`list ${path}`, 'user')
      prefetcher.listed(path, nodeAt(path), entriesOf(path))
      return at(path)
    },
    async stat(path) {
      prefetcher.looked(path, entryAt(path).node as ContentNode)
      if (isKnown(`body ${path}`)) return
      // A body under way tells its length as well.
      await ask(answers.has(`body ${path}`) ? `body ${path}` : `size ${path}`, 'user')
    },
    async read(path) {
      const { node } = entryAt(path)
      prefetcher.opened(path, node)
      prefetcher.readOn(path, node)
      await ask(`body ${path}`, 'user', bytesOf(path))
    },
    async run(work) {
      let isDone = false
      let took = 0
      const began = time
      const working = work().then(() => {
        isDone = true
        took = time - began
      })
      for (;;) {
        await new Promise(setImmediate)
        if (isDone && underWay === 0) break
        const next = timers.reduce<(typeof timers)[number] | undefined>(
          (first, one) => (first === undefined || one.due < first.due ? one : first),
          undefined,
        )
        if (next === undefined) throw new Error('nothing is on its way, and the work is not done')
        time = Math.max(time, next.due)
        if (time - began > endless) throw new Error('the work does not come to an end')
        for (const timer of timers.filter(({ due }) => due <= time)) {
          timers.splice(timers.indexOf(timer), 1)
          timer.action()
        }
      }
      await working
      return took
    },
    asked,
    get guessesAtMost() {
      return guessesAtMost
    },
  }
}
