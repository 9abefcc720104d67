// What is never deleted, because it was not meant or not shown: on real mounts.
import t from 'tap'
import { aboutBursts, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutBursts, warmMount)
