// The promises about who may read an unsaved text on real mounts.
import t from 'tap'
import { privateDrafts } from '../../semantics/saving/private-drafts.js'
import { realMount } from '../../testbed/mount.js'

t.setTimeout(360_000)

privateDrafts(t, realMount)
