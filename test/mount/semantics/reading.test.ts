// What is read: on real mounts.
import t from 'tap'
import { aboutReading } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(570_000)
for (const promises of aboutReading) promises(t, warmMount)
