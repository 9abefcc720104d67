// The promises about a top of the drive that is not reported any more on real mounts.
import t from 'tap'
import { missingRoots } from '../../semantics/reading/roots.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

missingRoots(t, warmMount)
