// Things that are made, renamed and deleted, or not deleted because that was not meant: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutNames, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, aboutNames, inProcess)
