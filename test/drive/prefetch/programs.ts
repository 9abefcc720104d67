// Programs on their way through a simulated tree, each in an order of its own.
import type { Folder, SimulatedLink } from './simulated-link.js'

/** What is done to the files of a folder. */
export type Deed = 'nothing' | 'stat' | 'read'
export type Sorting = (folders: readonly Folder[]) => readonly Folder[]

const { compare } = new Intl.Collator('en')
const naturally = new Intl.Collator('en', { numeric: true }).compare
const by =
  (order: (one: string, other: string) => number): Sorting =>
  folders =>
    folders.toSorted((one, other) => order(one.name, other.name))
const codePoints = (one: string, other: string): number => (one < other ? -1 : 1)

export const sortings = {
  listing: folders => folders,
  'listing backwards': folders => folders.toReversed(),
  'code points': by(codePoints),
  'code points backwards': by((one, other) => codePoints(other, one)),
  locale: by(compare),
  'locale backwards': by((one, other) => compare(other, one)),
  numbers: by(naturally),
  'numbers backwards': by((one, other) => naturally(other, one)),
} satisfies Readonly<Record<string, Sorting>>

/** An order that is none. */
export const shuffledBy =
  (draw: () => number): Sorting =>
  folders => {
    const names = [...folders]
    for (let at = names.length - 1; at > 0; at -= 1) {
      const other = Math.floor(draw() * (at + 1))
      const [one, two] = [names[at], names[other]]
      if (one === undefined || two === undefined) continue
      names[at] = two
      names[other] = one
    }
    return names
  }

async function useFiles(link: SimulatedLink, path: string, { files }: Folder, deed: Deed): Promise<void> {
  for (const { name } of files) {
    if (deed === 'nothing') continue
    await link.stat(`${path}/${name}`)
    if (deed === 'read') await link.read(`${path}/${name}`)
  }
}

/** Into each folder with all that is in it before the next one. */
export async function depthFirst(
  link: SimulatedLink,
  path: string,
  how: { readonly sorting: Sorting; readonly deed: Deed; readonly stop?: () => boolean },
): Promise<void> {
  if (how.stop?.() === true) return
  const folder = await link.list(path)
  await useFiles(link, path, folder, how.deed)
  for (const below of how.sorting(folder.folders)) await depthFirst(link, `${path}/${below.name}`, how)
}

/** All folders that are known, in any order, whatever they lie in; then what was found in them. */
export async function levelByLevel(
  link: SimulatedLink,
  path: string,
  how: { readonly sorting: Sorting; readonly deed: Deed },
): Promise<void> {
  for (let level: Folder[] = [{ name: path, folders: [], files: [], kind: 'project' }]; level.length > 0; ) {
    const next: Folder[] = []
    for (const { name } of how.sorting(level)) {
      const folder = await link.list(name)
      await useFiles(link, name, folder, how.deed)
      next.push(...folder.folders.map(below => ({ ...below, name: `${name}/${below.name}` })))
    }
    level = next
  }
}

/** Every question at once, as soon as it is known. */
export async function atOnce(link: SimulatedLink, path: string, deed: Deed): Promise<void> {
  const folder = await link.list(path)
  await Promise.all([
    ...folder.files.map(async ({ name }) => {
      if (deed === 'stat') await link.stat(`${path}/${name}`)
      if (deed === 'read') await link.read(`${path}/${name}`)
    }),
    ...folder.folders.map(below => atOnce(link, `${path}/${below.name}`, deed)),
  ])
}
