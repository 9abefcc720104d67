// Activity of one mount: the counters of its layers, each filled by its own layer and read by metrics and `calcfs top`.
import { type CacheUse, type Foresight, openCacheUse, openForesight } from './cache-use.js'
import { type KernelCalls, openKernelCalls } from './kernel-calls.js'
import { openRequests, type Requests } from './requests.js'

export interface Activity {
  readonly calls: KernelCalls
  readonly requests: Requests
  readonly cache: CacheUse
  readonly foresight: Foresight
}

export const openActivity = (): Activity => ({
  calls: openKernelCalls(),
  requests: openRequests(),
  cache: openCacheUse(),
  foresight: openForesight(),
})
