// Order of the commands in the help of the whole program: what belongs together, and what is used first.

const groups: Readonly<Record<string, readonly string[]>> = {
  'Drives:': ['mount', 'unmount', 'status', 'mounts', 'top', 'log', 'metrics', 'refresh', 'why', 'info'],
  'Edits:': ['drafts', 'history', 'restore', 'report', 'delete'],
  'Contents:': ['cache', 'pin', 'unpin', 'pins'],
  'Without a mount:': ['ls', 'find', 'cat', 'get', 'resolve'],
  'Sign-in and settings:': ['login', 'logout', 'doctor', 'fleet', 'desktop', 'hand-over'],
  'Help, and a service to try:': ['help', 'completion', 'demo', 'serve'],
}

const others = 'Others:'

/** The heading above a command. */
export const groupOf = (name: string): string =>
  Object.entries(groups).find(([, names]) => names.includes(name))?.[0] ?? others

const order = Object.values(groups).flat()

/** For a sort: where a command stands; one without a group behind all. */
export function placeOf(name: string): number {
  const at = order.indexOf(name)
  return at === -1 ? order.length : at
}
