// The promises about answers that are about something else on real mounts.
import t from 'tap'
import { identity } from '../../semantics/reading/identity.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

identity(t, warmMount)
