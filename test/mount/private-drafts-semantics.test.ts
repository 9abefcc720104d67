// The promises about who may read an unsaved text on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { privateDrafts } from '../semantics/private-drafts.js'

t.setTimeout(360_000)

privateDrafts(t, realMount)
