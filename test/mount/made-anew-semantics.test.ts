// The promises about reading from a service that is made again on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { madeAnew } from '../semantics/made-anew.js'
import { oneDate } from '../semantics/one-date.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

madeAnew(t, realMount)
oneDate(t, realMount)
