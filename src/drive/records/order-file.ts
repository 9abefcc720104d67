// Order file (`reports/42/order.txt`): the report's list as lines, and a save of them as an edit of that list.
import { LRUCache } from 'lru-cache'
import { orderText } from '../../edit/kinds/order-text.js'
import type { SaveRequest } from '../../edit/save/save.js'
import { Failure } from '../../failure.js'
import { prettyPrint } from '../../record/json/print.js'
import type { RequestContext } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'
import { nodeKey, type OrderNode, type RecordNode } from '../nodes/node.js'
import { type EditingParts, learnSaved, rememberText, savedOrOld } from './editable-files.js'
import { recordKeyOf } from './node-key.js'
import type { Editing, RecordSource, TextSnapshot } from './source.js'

/** Lists of reports are remembered with the records they were made from, in so many characters. */
const originCharacters = 4 << 20

export function openOrderFiles(parts: EditingParts): (node: OrderNode) => RecordSource {
  const { catalog, dialect, times } = parts
  const origins = new LRUCache<string, string>({
    maxSize: originCharacters,
    sizeCalculation: (origin, known) => origin.length + known.length,
  })
  const originOf = (node: OrderNode, text: Uint8Array | undefined): string | undefined =>
    text === undefined ? undefined : origins.get(`${node.id} ${Buffer.from(text).toString()}`)

  async function produce(node: OrderNode, context: RequestContext): Promise<TextSnapshot> {
    const record = await catalog.record({ kind: 'report', id: node.id }).ask(context)
    const rows = dialect.rows(record)
    if (rows === undefined) {
      throw new Failure(
        'unsupported',
        `report ${node.id}: the service does not show the list of its calculations`,
      )
    }
    const text = orderText(rows)
    const known = `${node.id} ${text}`
    const origin = prettyPrint(record)
    if (origins.get(known) !== origin) {
      origins.set(known, origin)
      rememberText(parts, recordKeyOf(reportNodeOf(node)), origin, 'shown')
    }
    const bytes = Buffer.from(text)
    return { bytes, mtime: times.ofText(nodeKey(node), bytes, dialect.facts(record).modified) }
  }

  function editing(node: OrderNode): Editing | Failure {
    const report = reportNodeOf(node)
    async function save(request: Omit<SaveRequest, 'record'>, context: RequestContext): Promise<undefined> {
      const saved = await savedOrOld(parts, report, () =>
        parts.saver.save({ record: parts.editable(node), ...request }, context),
      )
      if (saved.outcome === 'stored') learnSaved(parts, report, saved)
      return undefined
    }
    return (
      parts.rights.refusal({ do: 'edit', node }) ?? {
        begin: base => parts.drafts.begin(recordKeyOf(node), originOf(node, base)),
        noteRead(text, by) {
          const origin = originOf(node, text)
          if (origin !== undefined) rememberText(parts, recordKeyOf(report), origin, 'read', asOrder(by))
        },
        keep: async text => void (await parts.history.archive(recordKeyOf(node), text)),
        save: (draft, { base, process }, context) =>
          save({ draft, own: originOf(node, base), by: asOrder(process) }, context),
        saveOver: (draft, now, context) => save({ draft, own: originOf(node, now), isOver: true }, context),
      }
    )
  }

  return node => ({
    key: nodeKey(node),
    produce: context => produce(node, context),
    get editing() {
      return editing(node)
    },
    outlivesText: false,
    written: at => times.written(nodeKey(node), at),
    opened: () => {},
  })
}

const reportNodeOf = ({ id }: OrderNode): Extract<RecordNode, { of: 'report' }> => ({
  kind: 'record',
  of: 'report',
  id,
})

/** What a program has read of the record itself is another text to it. */
const asOrder = (by: ProcessId | undefined): ProcessId | undefined => by && { ...by, view: 'order' }
