// The promises about the names under which shares were made on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { shareAliases } from '../semantics/share-aliases.js'

t.setTimeout(360_000)

shareAliases(t, realMount)
