// Answers that are late, old or lost, and a service that is set up again: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutDoubts, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, aboutDoubts, inProcess)
