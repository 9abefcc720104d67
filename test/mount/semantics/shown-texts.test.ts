// The promises about what is shown of a record that this mount has changed by another way, on real mounts.
import t from 'tap'
import { shownTexts } from '../../semantics/shown/shown-texts.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(360_000)

shownTexts(t, warmMount)
