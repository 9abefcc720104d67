// What is read, on real mounts through libfuse (`--kernel libfuse`).
import t from 'tap'
import { aboutReading, sideBySide } from '../../semantics/suite.js'
import { libfuseMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutReading, libfuseMount)
