// What is done where the answers are late, old or lost: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutDoubts, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, aboutDoubts, inProcess)
