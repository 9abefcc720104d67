// The promises about read access to unsaved texts on real mounts.
import t from 'tap'
import { privateDrafts } from '../../semantics/saving/private-drafts.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

privateDrafts(t, warmMount)
