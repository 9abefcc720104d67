// What is written under several names of one thing: on real mounts.
import t from 'tap'
import { aboutAliases, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutAliases, warmMount)
