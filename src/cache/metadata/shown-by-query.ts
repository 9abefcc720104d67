// What the answer to a query shows: so that the kernel is told where it is another one.

/** What an answer shows, by its node's key: a directory's names and their times, or a record's text; undefined for any other answer. */
export function shownByQuery(namespace: string, key: string): string | undefined {
  if (namespace === 'record') return `record ${key}`
  if (namespace === 'shares') return `project ${key}`
  if (namespace !== 'listing') return undefined
  const [of = '', id] = key.split(' ')
  return `${/^(projects|calculations)$/.test(of) ? 'project' : 'calculation'} ${id}`
}
