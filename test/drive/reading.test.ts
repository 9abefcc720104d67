// What is read: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutReading, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, aboutReading, inProcess)
