// What is saved, on real mounts through libfuse (`--kernel libfuse`).
import t from 'tap'
import { aboutEditing, sideBySide } from '../../semantics/suite.js'
import { libfuseMount } from '../../testbed/warm-mount.js'

sideBySide(t, aboutEditing, libfuseMount)
