// The promises about what is meant by several removals on real mounts.
import t from 'tap'
import { intentions } from '../../semantics/namespace/intentions.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

intentions(t, warmMount)
