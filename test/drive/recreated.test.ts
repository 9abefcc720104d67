// What is kept of a service that is set up again: on a drive without a kernel, behind one that is as harsh as kernels are.
import t from 'tap'
import { aboutRecreated } from '../semantics/suite.js'
import { inProcess } from '../testbed/in-process.js'

t.setTimeout(570_000)
// Deadlines and answers that are late on purpose are waited for.
t.jobs = 3
for (const promises of aboutRecreated) promises(t, inProcess)
