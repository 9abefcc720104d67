// What is saved, on real mounts that speak to the kernel directly (`--kernel session`).
import t from 'tap'
import { aboutEditing, sideBySide } from '../../semantics/suite.js'
import { sessionMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutEditing, sessionMount)
