// What is read ahead, and what other clients, outages and refusals do to reading: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutConditions, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, aboutConditions, inProcess)
