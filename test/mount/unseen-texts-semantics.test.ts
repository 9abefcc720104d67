// The promises about texts that no program has read on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { unseenTexts } from '../semantics/unseen-texts.js'

t.setTimeout(360_000)

// Each has a drive of its own, and waits most of the time.
t.jobs = 2

unseenTexts(t, realMount)
