// The promises about reading from a service that is made again on real mounts.
import t from 'tap'
import { oneDate } from '../../semantics/reading/one-date.js'
import { recreateService } from '../../semantics/reading/recreated-service.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

recreateService(t, warmMount)
oneDate(t, warmMount)
