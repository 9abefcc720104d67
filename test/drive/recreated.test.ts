// What is kept of a service that is set up again: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutRecreated, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, aboutRecreated, inProcess)
