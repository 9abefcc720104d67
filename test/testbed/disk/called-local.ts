// Preloaded into a daemon under test: a FUSE mount that the test itself serves on this machine counts as a local disk.
import type * as fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

const fuse = 0x65735546 // FUSE_SUPER_MAGIC of statfs(2)
const tmpfs = 0x01021994
const own: typeof fs = createRequire(import.meta.url)('node:fs')
const asked = own.statfsSync
const named = ['--state-dir', '--cache-dir'].flatMap(flag =>
  process.argv.filter((_, at) => process.argv[at - 1] === flag),
)

Object.assign(own, {
  statfsSync(path: fs.PathLike) {
    const found = asked(path)
    if (found.type === fuse && named.some(one => String(path).startsWith(one))) found.type = tmpfs
    return found
  },
})
syncBuiltinESMExports()
