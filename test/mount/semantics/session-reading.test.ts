// What is read, on real mounts that speak to the kernel directly (`--kernel session`).
import t from 'tap'
import { aboutReading, sideBySide } from '../../semantics/suite.js'
import { sessionMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutReading, sessionMount)
