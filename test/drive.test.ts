// The semantic suite on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { inProcess } from './ground/in-process.js'
import { suite } from './semantics/suite.js'

t.setTimeout(120_000)
suite(t, inProcess)
