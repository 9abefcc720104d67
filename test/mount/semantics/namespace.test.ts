// Things that are made, renamed and deleted, or not deleted because that was not meant: on real mounts.
import t from 'tap'
import { aboutNames, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutNames, warmMount)
