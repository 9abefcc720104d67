// Answers that are late, old or lost, and a service that is set up again: on real mounts.
import t from 'tap'
import { aboutDoubts, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutDoubts, warmMount)
