// Texts that are written into one file, and under several names of one thing: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutAliases, aboutEditing, sideBySide } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

sideBySide(t, [...aboutEditing, ...aboutAliases], inProcess)
