// Visual Studio Code's way with a file on Linux, as its disk file system provider has it: a program that opens, waits and saves.
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises'

/** In place: O_WRONLY|O_CREAT|O_TRUNC, the text at once, fdatasync, close. */
async function write(path: string, text: Buffer): Promise<void> {
  const file: FileHandle = await open(path, 'w')
  try {
    await file.write(text, 0, text.length)
    await file.datasync()
  } finally {
    await file.close()
  }
}

/** With `atomic: {postfix: '.vsctmp'}`: the same next to the file, then a rename over it. */
async function writeAtomic(path: string, text: Buffer): Promise<void> {
  await write(`${path}.vsctmp`, text)
  await rename(`${path}.vsctmp`, path)
}

/** A save is held back with "the content of the file is newer" where the time went on since the editor last looked. */
async function isNewer(path: string, seen: number): Promise<boolean> {
  return (await stat(path)).mtimeMs > seen
}

/** Each text of `copies` is one Ctrl+S, with `pause` milliseconds before the next. */
async function edit(
  how: string,
  path: string,
  { copies, pause }: { copies: readonly string[]; pause: number },
): Promise<void> {
  const save = how === 'atomic' ? writeAtomic : write
  let seen = (await stat(path)).mtimeMs
  await readFile(path)
  for (const copy of copies) {
    const text = await readFile(copy)
    if (await isNewer(path, seen)) throw new Error(`${path}: the content of the file is newer`)
    await save(path, text)
    seen = (await stat(path)).mtimeMs
    await new Promise(wake => setTimeout(wake, pause))
  }
}

const [how = '', path = '', pause = '0', ...copies] = process.argv.slice(2)
await edit(how, path, { copies, pause: Number(pause) })
