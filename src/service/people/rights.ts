// Access rights: owners may do everything, others what is shared with them, on a project and all below it.
import type { Shortcomings } from '../store/options.js'
import { missing, Refusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import type { User } from './users.js'

/** In rising order: each right holds all before it. FULLACCESS adds deleting and the shares themselves. */
export const permissions = ['READ', 'WRITE', 'FULLACCESS'] as const
export type Permission = (typeof permissions)[number]

const rank = { READ: 1, WRITE: 2, FULLACCESS: 3 } as const

const held = `
WITH RECURSIVE upward (id, parent, owner) AS (
  SELECT id, parent, owner FROM project WHERE id = ?
  UNION ALL SELECT p.id, p.parent, p.owner FROM project p JOIN upward u ON p.id = u.parent)
SELECT count(*) AS height, max(upward.owner = CAST(? AS INTEGER)) AS owns,
  max(CASE s.permission WHEN 'FULLACCESS' THEN 3 WHEN 'WRITE' THEN 2 WHEN 'READ' THEN 1 ELSE 0 END) AS shared
FROM upward LEFT JOIN share s ON s.project = upward.id AND s.user = CAST(? AS INTEGER)`

export function rights(store: Store, { hide, root: rootless }: Pick<Shortcomings, 'hide' | 'root'>) {
  /** The refusal for a user that may not even read a thing of this name, e.g. `project 12`. */
  const denied = (what: string) =>
    hide ? missing(`there is no ${what}`) : new Refusal(403, `you have no right to see ${what}`)
  // Where roots have no id, a project without a parent counts as no parent.
  const lowest = rootless ? 2 : 1
  const rankOf = (user: User, project: string): number | undefined => {
    const row = store.first<{ height: number; owns: number; shared: number }>(held, project, user.id, user.id)
    if (row === undefined || row.height < lowest) return undefined
    return row.owns === 1 ? rank.FULLACCESS : row.shared
  }
  return {
    denied,
    mayRead: (user: User, project: string): boolean => {
      const has = rankOf(user, project)
      return has !== undefined && has >= rank.READ
    },
    /** @throws Refusal 404 if there is no such project, 403 (404 where rights hide) if the right is missing */
    need(user: User, permission: Permission, project: string): void {
      const has = rankOf(user, project)
      if (has === undefined) throw missing(`there is no project ${project}`)
      if (has === 0) throw denied(`project ${project}`)
      if (has < rank[permission]) throw new Refusal(403, `this needs ${permission} on project ${project}`)
    },
  }
}

export type Rights = ReturnType<typeof rights>
