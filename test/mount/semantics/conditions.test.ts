// What is read ahead, and what other clients, outages and refusals do to reading: on real mounts.
import t from 'tap'
import { aboutConditions } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(570_000)
for (const promises of aboutConditions) promises(t, warmMount)
