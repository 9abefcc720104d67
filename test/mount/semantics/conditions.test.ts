// What is read ahead, and what other clients, outages and refusals do to reading: on real mounts.
import t from 'tap'
import { aboutConditions, sideBySide } from '../../semantics/suite.js'
import { warmMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutConditions, warmMount)
