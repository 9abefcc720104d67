// The promises about reading on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { aboutReading } from '../semantics/suite.js'

t.setTimeout(560_000)
for (const promises of aboutReading) promises(t, realMount)
