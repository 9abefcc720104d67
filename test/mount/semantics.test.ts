// The semantic suite on real mounts.
import t from 'tap'
import { realMount } from '../ground/mount.js'
import { suite } from '../semantics/suite.js'

t.setTimeout(240_000)
suite(t, realMount)
