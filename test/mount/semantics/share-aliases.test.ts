// The promises about the names under which shares were made on real mounts.
import t from 'tap'
import { shareAliases } from '../../semantics/saving/share-aliases.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

shareAliases(t, warmMount)
