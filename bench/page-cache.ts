// How the pages of a peer's own cache leave the kernel before a remount, so that a remount is like the next morning.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Only these files are dropped, by posix_fadvise, which needs no rights: other programs on the machine keep theirs. */
const program = `
import os, sys
os.sync()
for directory, _, names in os.walk(sys.argv[1]):
    for name in names:
        try:
            file = os.open(os.path.join(directory, name), os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
`

/** Writes down what is not yet on disk below the directory, and lets the kernel forget it. */
export async function dropPages(directory: string): Promise<void> {
  await run('/usr/bin/python3', ['-c', program, directory])
}
