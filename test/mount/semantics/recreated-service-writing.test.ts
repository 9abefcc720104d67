// The promises about writing to a service that is made again on real mounts.
import t from 'tap'
import { editedAnew } from '../../semantics/reading/recreated-service.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

editedAnew(t, warmMount)
