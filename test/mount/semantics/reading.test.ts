// What is read: on real mounts.
import t from 'tap'
import { aboutReading, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutReading, warmMount)
