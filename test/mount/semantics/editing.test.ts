// What is written into one file: on real mounts.
import t from 'tap'
import { aboutEditing, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutEditing, warmMount)
