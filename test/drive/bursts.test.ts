// What is never deleted, because it was not meant or not shown: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutBursts, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, aboutBursts, inProcess)
