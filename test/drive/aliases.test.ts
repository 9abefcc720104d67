// What is written under several names and over long times, on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutWritingSlowly } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

t.setTimeout(570_000)
for (const promises of aboutWritingSlowly) promises(t, inProcess)
