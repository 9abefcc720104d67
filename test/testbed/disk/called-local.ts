// Preloaded into a daemon under test: a FUSE mount that the test itself serves on this machine counts as a local disk.
import type * as fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

const fuse = 0x65735546 // FUSE_SUPER_MAGIC of statfs(2)
const tmpfs = 0x01021994
const own: typeof fs = createRequire(import.meta.url)('node:fs')
const asked = own.statfsSync
const state = process.argv[process.argv.indexOf('--state-dir') + 1] ?? ''

Object.assign(own, {
  statfsSync(path: fs.PathLike) {
    const found = asked(path)
    if (found.type === fuse && state !== '' && String(path).startsWith(state)) found.type = tmpfs
    return found
  },
})
syncBuiltinESMExports()
