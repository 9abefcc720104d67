// What is done where the answers are late, old or lost: on real mounts.
import t from 'tap'
import { aboutDoubts, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutDoubts, warmMount)
