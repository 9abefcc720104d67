// What is done where the answers are late, old or lost: on real mounts.
import t from 'tap'
import { aboutDoubts } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(570_000)
for (const promises of aboutDoubts) promises(t, warmMount)
