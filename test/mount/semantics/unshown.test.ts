// The promises about numbers that stand for another report or share, on real mounts.
import t from 'tap'
import { unshown } from '../../semantics/namespace/unshown.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

unshown(t, warmMount)
