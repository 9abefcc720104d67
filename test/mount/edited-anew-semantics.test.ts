// The promises about writing to a service that is made again on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { editedAnew } from '../semantics/made-anew.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

editedAnew(t, realMount)
