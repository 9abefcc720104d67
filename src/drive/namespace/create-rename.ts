// mkdir makes a project, and a rename gives a project or a calculation another name: never another place.
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { makeProject } from '../../edit/kinds/new-project.js'
import type { Saver } from '../../edit/save/save.js'
import { asFailure, Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import { prettyPrint } from '../../record/json/print.js'
import type { Ask, Dialect, Instant, ListedProject, ProjectId, Remote } from '../../remote/remote.js'
import type { Named, WrittenNames } from '../names/name-aliases.js'
import { escapeTitle, titleWritten } from '../nodes/name.js'
import type { RecordNode } from '../nodes/node.js'
import { isProbe } from '../nodes/well-known-names.js'
import { type EditingParts, learnSaved } from '../records/editable-files.js'
import { keyOfNode } from '../records/node-key.js'

export interface MakingParts extends EditingParts {
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly saver: Saver
  readonly written: WrittenNames
  readonly identities: Pick<Identities, 'meet'>
  readonly remote: Pick<Remote, 'createProject' | 'subProjects' | 'project' | 'calculation'>
  /** The description of a project that is made by its name alone. */
  readonly describe: (title: string) => string
  readonly now: () => Instant
}

export interface Making {
  /** A new project below this one, under the name as it was written. */
  make(parent: ProjectId, name: string, ask: Ask): Promise<void>
  /** The thing gets another name in its place. */
  retitle(node: Named, name: string, ask: Ask): Promise<void>
  /** Only who came by this name goes on by it: it may be given anew. */
  isFormer(parent: ProjectId, name: string): boolean
}

export function openMaking(parts: MakingParts): Making {
  const { catalog, dialect, remote, rights, written } = parts

  return {
    isFormer: written.isFormer,

    async make(parent, name, ask) {
      const refusal = rights.refusal({ do: 'make', in: parent })
      if (refusal !== undefined) throw refusal
      refuseProbe(name)
      const near = { before: (await catalog.children(parent, ask)).projects, like: await like(parent, ask) }
      const title = titleWritten(name)
      const said = { title, description: parts.describe(title), parent }
      const { made, all } = await makeProject({ remote, dialect, now: parts.now }, { said, near }, ask).catch(
        (thrown: unknown) => {
          // It may have been made all the same: the next who asks reads the list anew.
          catalog.refreshProject(parent)
          throw thrown
        },
      )
      catalog.learnSubProjects(parent, all)
      await meet(made, parent, ask)
      written.made(made.id)
      written.add(parent, name, { kind: 'project', id: made.id, parent })
    },

    async retitle(node, name, ask) {
      const refusal = rights.refusal({ do: 'rename', node })
      if (refusal !== undefined) throw refusal
      refuseProbe(name)
      const record = await present(node, ask)
      const target = recordOf(node)
      const base = prettyPrint(record)
      const draft = await parts.drafts.begin(keyOfNode(target), base)
      try {
        await draft.write(Buffer.from(prettyPrint(dialect.retitled(record, titleWritten(name)))), 0)
        const saved = await parts.saver.save({ record: parts.editable(target), draft, own: base }, ask)
        if (saved.outcome === 'stored') learnSaved(parts, target, saved)
      } finally {
        // A name is no text that anybody would miss: the caller hears what became of it.
        await draft.discard()
      }
      if (node.parent === undefined) return
      catalog.refreshProject(node.parent)
      written.drop(node.parent, escapeTitle(dialect.facts(record).title ?? ''))
      written.add(node.parent, name, node)
    },
  }

  /** What may be taken away again is this very project, and no other that has its number one day. */
  async function meet({ id, title, born }: ListedProject, parent: ProjectId, ask: Ask): Promise<void> {
    const thing = { kind: 'project', id } as const
    parts.identities.meet(thing, { born, owner: undefined, title, parent }, 'listing')
    catalog.forget(thing)
    await catalog.record(thing, ask).catch(unknownYet)
  }

  function present(node: Named, ask: Ask): Promise<JsonObject> {
    return node.kind === 'project' ? remote.project(node.id, ask) : remote.calculation(node.id, ask)
  }

  /** The parent's own record tells how this service calls things; where it is only a space, nothing does. */
  async function like(parent: ProjectId, ask: Ask): Promise<readonly JsonObject[]> {
    return [await catalog.record({ kind: 'project', id: parent }, ask)]
  }
}

/** File managers try such names everywhere, and lookups of them ask nothing: a thing made under one would not be found. */
function refuseProbe(name: string): void {
  if (isProbe(name)) throw new Failure('not-permitted', `${name}: nothing is made or renamed to such a name`)
}

const recordOf = (node: Named): RecordNode =>
  node.kind === 'project'
    ? { kind: 'record', of: 'project', id: node.id, parent: node.parent }
    : { kind: 'record', of: 'calculation', id: node.id, parent: node.parent }

/** The project is made whatever this answers; `rmdir` asks again. */
function unknownYet(thrown: unknown): void {
  asFailure(thrown)
}
