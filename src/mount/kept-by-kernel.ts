// What the kernel keeps: which directories' names and which texts it was given lately, so that it is told only of what it may know.
import { performance } from 'node:perf_hooks'
import type { Attributes } from '../drive/interface/attributes.js'
import type { KernelNews, NewsSubject } from '../drive/interface/kernel-news.js'
import type { Drive } from '../drive/interface/verbs.js'
import { noop } from '../noop.js'
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
  let stopWatching = noop
  /** Answers on their way: each may be of before a news that comes meanwhile, and is given to the kernel after it. */
  let awaited = 0
  const pace = openTellingPace(clock, advance)

  /** Two generations: what the kernel has dropped by itself goes without a scan. */
  function turn(): void {
    const age = kernelNow() - turned
    if (age < keptMs) return
    older = age < 2 * keptMs ? recent : new Map()
    recent = new Map()
    turned = kernelNow()
  }

  function given({ listedBy, version }: Attributes): void {
    const key = listedBy ?? version
    if (key === undefined) return
    turn()
    if (recent.size === 0) watch()
    recent.set(key, kernelNow())
  }

  function noted(attributes: Attributes): Attributes {
    given(attributes)
    return attributes
  }

  /** After a sleep, lifetimes are over that the kernel still counts. */
  function watch(): void {
    stopWatching()
    const [began, kernelBegan] = [clock.now(), kernelNow()]
    const compare = (): void => {
      stopWatching = noop
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

  const isKnown = (subject: NewsSubject): boolean => subject === 'all' || awaited > 0 || isKept(subject.key)

  news.listen({
    hear(subject) {
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
        if (!(answer instanceof Promise)) return noted(answer)
        awaited += 1
        return answer.then(noted).finally(() => {
          awaited -= 1
        })
      },
    }),
    end() {
      stopWatching()
      pace.end()
      news.listen(undefined)
    },
  }
}
