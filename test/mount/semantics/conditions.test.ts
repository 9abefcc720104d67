// What is read ahead, and what other clients, outages and refusals do to reading: on real mounts.
import t from 'tap'
import { aboutConditions } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(570_000)
// Most of the time is spent waiting: for what the kernel keeps to be over, and for deadlines.
t.jobs = 4
for (const promises of aboutConditions) promises(t, warmMount)
