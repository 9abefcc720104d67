// What the kernel keeps: which directories' names and which texts it was given lately, so that it is told only of what it may know.
import { performance } from 'node:perf_hooks'
import type { Attributes } from '../drive/interface/attributes.js'
import type { KernelNews, NewsSubject } from '../drive/interface/kernel-news.js'
import type { PathDrive as Drive } from '../drive/interface/path-drive.js'
import type { Clock } from '../remote/clock.js'
import type { KernelEpoch } from './kernel-epoch.js'
import { openTellingPace } from './telling-pace.js'

export interface KeptByKernel {
  /** The drive, with a note of what it gives to the kernel. */
  noting(drive: Drive): Drive
  end(): void
}

/** Milliseconds by which the drive's clock may be ahead of the kernel's, which stands still while the machine sleeps. */
const slack = 1_000

/** @param keptMs milliseconds after which the kernel drops by itself what it was given */
export function openKeptByKernel(
  epoch: Pick<KernelEpoch, 'advance' | 'told'>,
  news: KernelNews,
  { clock, keptMs }: { readonly clock: Clock; readonly keptMs: number },
): KeptByKernel {
  const kernelNow = (): number => performance.now()
  /** When a name of that directory, or that text, was given last, by its key. */
  let recent = new Map<string, number>()
  let older = new Map<string, number>()
  let turned = kernelNow()
  let stopWatching = () => {}
  /** Answers on their way: each may be of before a news that comes meanwhile, and is given to the kernel after it. */
  let awaited = 0
  /** The keys of such news. */
  const heard = new Set<string>()
  const pace = openTellingPace(clock, advance)

  /** Two generations: what the kernel has dropped by itself goes without a scan. */
  function turn(): void {
    const age = kernelNow() - turned
    if (age < keptMs) return
    older = age < 2 * keptMs ? recent : new Map()
    recent = new Map()
    turned = kernelNow()
  }

  const keyOf = ({ listedBy, version }: Attributes): string | undefined => listedBy ?? version

  function given(attributes: Attributes): Attributes {
    const key = keyOf(attributes)
    if (key === undefined) return attributes
    turn()
    if (recent.size === 0) watch()
    recent.set(key, kernelNow())
    return attributes
  }

  /** What news came of while it was on its way is asked for once more; by then the kernel counts as having it. */
  async function givenLate(drive: Drive, path: string, answer: Promise<Attributes>): Promise<Attributes> {
    awaited += 1
    try {
      const attributes = given(await answer)
      const key = keyOf(attributes)
      return key === undefined || !heard.has(key) ? attributes : given(await drive.getattr(path))
    } finally {
      awaited -= 1
      if (awaited === 0) heard.clear()
    }
  }

  /** After a sleep, lifetimes are over that the kernel still counts. */
  function watch(): void {
    stopWatching()
    const [began, kernelBegan] = [clock.now(), kernelNow()]
    const compare = (): void => {
      stopWatching = () => {}
      if (clock.now() - began > kernelNow() - kernelBegan + slack) advance()
    }
    stopWatching = clock.after(keptMs, compare, 'in-background')
  }

  function isKept(key: string): boolean {
    turn()
    const at = recent.get(key) ?? older.get(key)
    return at !== undefined && kernelNow() - at < keptMs
  }

  function advance(): void {
    recent.clear()
    older.clear()
    epoch.advance()
  }

  const isKnown = (subject: NewsSubject): boolean => subject === 'all' || isKept(subject.key)

  news.listen({
    hear(subject) {
      if (awaited > 0 && subject !== 'all') heard.add(subject.key)
      if (isKnown(subject)) pace.due()
    },
    get told() {
      return epoch.told
    },
  })

  return {
    noting: drive => ({
      ...pace.noting(drive),
      getattr(path) {
        const answer = drive.getattr(path)
        return answer instanceof Promise ? givenLate(drive, path, answer) : given(answer)
      },
    }),
    end() {
      stopWatching()
      pace.end()
      news.listen(undefined)
    },
  }
}
