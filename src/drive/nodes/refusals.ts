// Sentences that refuse what the service has no operation for.
import { Failure } from '../../failure.js'
import { idOfRecordFile } from '../../layout.js'
import type { ProjectId } from '../../remote/remote.js'
import { type DirectoryNode, isDirectory, type Node } from './node.js'
import { type Name, pathOf } from './place.js'

export const noUpload = 'you cannot create files here; the server accepts no uploads'

const madeHere =
  '; this directory is a project that mkdir or cp -r made here, and rmdir takes it away while it is empty'

const noSuchReport =
  'the service has no such report, and gives a new one its number itself: save it as new.json, or as new-dyes.json'

const onlyLinks =
  'there are links here, and no other files; a program that makes a file beside what it edits is given the record itself, reports/<id>.json (sed -i --follow-symlinks does so)'

export function refusalToMake(name: Name, hasMade: (project: ProjectId) => boolean): Failure {
  const path = pathOf(name)
  const { node } = name.parent
  if (node.kind === 'reports' && idOfRecordFile(name.name) !== undefined)
    return new Failure('not-permitted', `${path}: ${noSuchReport}`)
  if (node.kind === 'report-names') return new Failure('not-permitted', `${path}: ${onlyLinks}`)
  const made = node.kind === 'project' && hasMade(node.id) ? madeHere : ''
  return new Failure('no-upload', `${path}: ${noUpload}${made}`)
}

export function readOnlyBecause(node: Node): string {
  if (node.kind === 'link') return `this is a link; change or remove what it leads to, ${node.to}`
  return node.kind === 'content' || node.kind === 'calculation'
    ? 'the files of a calculation never change'
    : 'this cannot be changed through the drive'
}

/** The kind of refusal for a verb that is about files. */
export const refusalOf = (node: Node): 'is-directory' | 'not-permitted' =>
  isDirectory(node) ? 'is-directory' : 'not-permitted'

export function noProjectHere(directory: DirectoryNode): string {
  if (directory.kind === 'top')
    return 'a project is made inside a project, and projects/ stands for none here: the service gives your space no id, so name a project with --root'
  return directory.kind === 'calculation'
    ? 'a calculation holds no projects'
    : 'projects are made below projects/ only'
}
