// Shares: the project, the user it is shared with, and the permission.
import { type Permission, permissions } from '../people/rights.js'
import { type User, userByName } from '../people/users.js'
import { invalid } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import {
  idColumn,
  idIn,
  type JsonRecord,
  type Kept,
  keptById,
  parseRecord,
  recordText,
  replaced,
  textIn,
} from './record.js'

export interface Share extends Kept {
  readonly project: string
}

/** Fields that a PUT of a share cannot change: another user needs a new share. */
const ownedFields = ['shareId', 'projectId', 'user', 'email']

export const shareById = (store: Store, id: string): Share =>
  keptById(store, 'share', id, idColumn('project'))

export function sharesOf(store: Store, project: string): readonly string[] {
  return store
    .all<{ record: string }>('SELECT record FROM share WHERE project = ? ORDER BY id', project)
    .map(row => row.record)
}

export function sharedProject(body: JsonRecord): string {
  const id = idIn(body, 'projectId') ?? idIn(body, 'id')
  if (id === undefined) throw invalid('projectId is missing')
  return id
}

/** The user a new share's body names, by log-in name or e-mail address. */
export function sharedUser(store: Store, body: JsonRecord): User {
  const name = textIn(body, 'user') ?? textIn(body, 'username') ?? textIn(body, 'email')
  if (name === undefined) throw invalid('user is missing')
  const user = userByName(store, name)
  if (user === undefined) throw invalid(`there is no user "${name}"`)
  return user
}

export function permissionIn(body: JsonRecord): Permission {
  const written = textIn(body, 'permission')
  const permission = permissions.find(known => known === written)
  if (permission === undefined) throw invalid(`permission is none of ${permissions.join(', ')}`)
  return permission
}

interface NewShare extends Omit<Share, 'record'> {
  readonly user: User
  readonly record: JsonRecord
}

export function insertShare(store: Store, { id, project, user, record: sent }: NewShare): void {
  const permission = permissionIn(sent)
  const owner = store.first<{ owner: string }>(
    'SELECT CAST(owner AS TEXT) AS owner FROM project WHERE id = ?',
    project,
  )
  if (owner?.owner === user.id) throw invalid(`${user.name} owns project ${project}`)
  const twin = store.first('SELECT 1 FROM share WHERE project = ? AND user = ?', project, user.id)
  if (twin !== undefined) throw invalid(`project ${project} is already shared with ${user.name}`)
  const record = new Map(sent)
    .set('shareId', id)
    .set('projectId', project)
    .set('user', JSON.stringify(user.name))
    .set('email', JSON.stringify(user.email))
  record.delete('id')
  store.run('INSERT INTO share VALUES (?, ?, ?, ?, ?)', id, project, user.id, permission, recordText(record))
}

export function updateShare(store: Store, share: Share, body: JsonRecord): void {
  const permission = permissionIn(body)
  const record = replaced(parseRecord(share.record), body, ownedFields)
  record.delete('id')
  const sql = 'UPDATE share SET permission = ?, record = ? WHERE id = ?'
  store.run(sql, permission, recordText(record), share.id)
}
