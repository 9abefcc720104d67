// The promises about writing on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { aboutWriting } from '../semantics/suite.js'

t.setTimeout(560_000)
for (const promises of aboutWriting) promises(t, realMount)
