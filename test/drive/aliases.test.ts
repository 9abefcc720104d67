// What is written under several names of one thing: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutAliases, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, aboutAliases, inProcess)
