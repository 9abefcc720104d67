// The promises about writing on real mounts.
import t from 'tap'
import { aboutWriting } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(560_000)
for (const promises of aboutWriting) promises(t, warmMount)
