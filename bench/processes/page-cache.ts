// Drops the kernel pages of a peer's own cache before a remount, so that a remount is like the next morning.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Only these files are dropped, by posix_fadvise, which needs no rights: other programs on the machine keep theirs.
 * Dirty pages cannot be dropped, so they are written first, without a commit for each file as fsync would have it.
 */
const program = `
import ctypes, os, sys
libc = ctypes.CDLL(None)
for directory, _, names in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(directory, name)
        if not os.path.isfile(path) or os.path.islink(path):
            continue
        file = os.open(path, os.O_RDONLY)
        libc.sync_file_range(file, ctypes.c_int64(0), ctypes.c_int64(0), 7)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
`

/** Writes what is not yet on disk below the directory, and lets the kernel forget it. */
export async function dropPages(directory: string): Promise<void> {
  await run('/usr/bin/python3', ['-c', program, directory])
}
