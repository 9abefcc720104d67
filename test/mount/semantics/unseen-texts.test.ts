// The promises about texts that no program has read on real mounts.
import t from 'tap'
import { unseenTexts } from '../../semantics/shown/unseen-texts.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

unseenTexts(t, warmMount)
