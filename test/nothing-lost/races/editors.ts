// A program with a report in its buffer, on one of several mounts: what it was given, what it has made of it, and how its saves end.
import {
  fieldOf,
  type JsonObject,
  stringJson,
  textOf as stringOf,
  withField,
} from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import type { TestService } from '../../testbed/service.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'

/** Fields that every client may edit. */
export const names = ['title', 'description', 'note'] as const
export type Name = (typeof names)[number]

export const wordIn = (record: JsonObject, name: Name): string | undefined => stringOf(fieldOf(record, name))

export interface Editor {
  readonly buffer: JsonObject
  /** What it loaded or saved last. */
  readonly synced: JsonObject
  /** Whether its last save was a conflict whose other text was not read yet. */
  readonly inConflict: boolean
  load(): Promise<void>
  edit(name: Name, value: string): void
  /** The errno of the save, or 'done'. */
  save(): Promise<string>
  /** Reads the other text, as a user does to compare the two. */
  readTheirs(): Promise<JsonObject>
  /** Gives the unsaved text up. */
  giveUp(): Promise<void>
}

/** An editor that has loaded the report. */
export async function editorOn(testbed: KernelTestbed, id: string): Promise<Editor> {
  const file = `reports/${id}.json`
  const drafts = '.calcfs/drafts'
  let buffer: JsonObject = parseObject(await textOf(testbed, file))
  let synced = buffer
  let inConflict = false
  return {
    get buffer() {
      return buffer
    },
    get synced() {
      return synced
    },
    get inConflict() {
      return inConflict
    },
    async load() {
      buffer = synced = parseObject(await textOf(testbed, file))
    },
    edit(name, value) {
      buffer = withField(buffer, name, stringJson(value))
    },
    async save() {
      const end = await outcome(overwrite(testbed, file, prettyPrint(buffer)))
      if (end === 'done') synced = buffer
      inConflict = end === 'ESTALE'
      return end
    },
    readTheirs: async () => parseObject(await textOf(testbed, `${drafts}/${id}.theirs.json`)),
    async giveUp() {
      await testbed.files.unlink(`${drafts}/${id}.json`)
      inConflict = false
    },
  }
}

/** The report as the service has it. */
export const storedAs = async (service: TestService, id: string): Promise<JsonObject> =>
  parseObject(await service.elsewhere('GET', `/report?id=${id}`))

/** Another client changes a field on the platform's web pages. */
export async function onTheWeb(
  service: TestService,
  id: string,
  edit: { name: Name; value: string },
): Promise<void> {
  const changed = withField(await storedAs(service, id), edit.name, stringJson(edit.value))
  await service.elsewhere('PUT', '/report', prettyPrint(changed))
}
