// What a list of files tells by itself of a generated geometry; a list may be long, and is looked at for every name in it.
import type { FileTitle } from '../../remote/remote.js'

const withMarkup = new WeakMap<readonly FileTitle[], boolean>()

/** Undefined where only the service knows: it may take files of other names for CML, too. */
export function geometryFromTitles(titles: readonly FileTitle[]): boolean | undefined {
  if (titles.length === 0) return false
  const found = withMarkup.get(titles) ?? titles.some(title => /\.cml$/i.test(title))
  withMarkup.set(titles, found)
  return found || undefined
}
