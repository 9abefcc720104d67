// The promises about prefetch, other clients' changes, outages and refusals on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { aboutConditions } from '../semantics/suite.js'

t.setTimeout(560_000)
for (const promises of aboutConditions) promises(t, realMount)
