// Texts that are written into one file, and under several names of one thing: on real mounts.
import t from 'tap'
import { aboutAliases, aboutEditing, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, [...aboutEditing, ...aboutAliases], warmMount)
