// One question of each kind from the typed call to the connection and back, beside raw undici: no cache, no drive.
import { dueIn, systemClock } from '../../src/remote/clock.js'
import {
  byteOffset,
  type CalculationId,
  type Content,
  type FileTitle,
  type ProjectId,
  type Remote,
  type RequestContext,
  type ServicePath,
} from '../../src/remote/remote.js'

const asked = (): RequestContext => dueIn(10_000, systemClock)

export type Questions = Readonly<Record<string, () => Promise<unknown>>>

/** Of the first calculation on the way down from the space of `demo`. */
export async function questionsTo(remote: Remote): Promise<Questions> {
  const root = await remote.resolveProject('/db/demo' as ServicePath, asked())
  const calculation = await calculationBelow(remote, root)
  const [title] = await remote.fileTitles(calculation, asked())
  const content: Content = { of: 'file', calculation, title: title as FileTitle }
  return {
    'a listing, asked': () => remote.subProjects(root, asked()),
    'a record, asked': () => remote.calculation(calculation, asked()),
    'a size, asked (HEAD)': () => remote.contentSize(content, asked()),
    'a content, asked': async () => {
      for await (const _ of (await remote.content(content, byteOffset(0), asked())).bytes);
    },
  }
}

async function calculationBelow(remote: Remote, project: ProjectId): Promise<CalculationId> {
  const [first] = await remote.calculations(project, asked())
  if (first !== undefined) return first.id
  const [below] = await remote.subProjects(project, asked())
  if (below === undefined) throw new Error(`project ${project} holds nothing`)
  return calculationBelow(remote, below.id)
}
