// What is kept of a service that is set up again: on real mounts.
import t from 'tap'
import { aboutRecreated, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutRecreated, warmMount)
