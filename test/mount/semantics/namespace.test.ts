// What is made, renamed and deleted: on real mounts.
import t from 'tap'
import { aboutNames, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutNames, warmMount)
