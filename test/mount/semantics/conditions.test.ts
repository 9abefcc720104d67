// The promises about prefetch, other clients' changes, outages and refusals on real mounts.
import t from 'tap'
import { aboutConditions } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(560_000)
for (const promises of aboutConditions) promises(t, warmMount)
