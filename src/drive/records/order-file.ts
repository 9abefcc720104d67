// `reports/42/order.txt`: the report's list as lines, and a save of them as an edit of that list.
import { LRUCache } from 'lru-cache'
import { orderText } from '../../edit/kinds/order-text.js'
import { Failure } from '../../failure.js'
import { prettyPrint } from '../../record/json/print.js'
import type { Ask } from '../../remote/remote.js'
import { keyOf, type OrderNode, type RecordNode } from '../nodes/node.js'
import { type EditingParts, learnSaved, remember, savedOrOld } from './editable-files.js'
import { keyOfNode } from './node-key.js'
import { type Editing, type RecordSource, recordTimes } from './source.js'
import type { Shown } from './text-lease.js'

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

  async function produce(node: OrderNode, ask: Ask): Promise<Shown> {
    const record = await catalog.record({ kind: 'report', id: node.id }, ask)
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
      remember(parts, keyOfNode(reportOf(node)), origin, 'shown')
    }
    const bytes = Buffer.from(text)
    return { bytes, mtime: times.ofText(keyOf(node), bytes, dialect.facts(record).modified) }
  }

  function editing(node: OrderNode): Editing | Failure {
    const report = reportOf(node)
    return (
      parts.rights.refusal({ do: 'edit', node }) ?? {
        begin: base => parts.drafts.begin(keyOfNode(node), originOf(node, base)),
        noteRead(text) {
          const origin = originOf(node, text)
          if (origin !== undefined) remember(parts, keyOfNode(report), origin, 'read')
        },
        keep: async text => void (await parts.texts.bury(keyOfNode(node), text)),
        async save(draft, base, ask) {
          const own = originOf(node, base)
          const saved = await savedOrOld(parts, report, () =>
            parts.saver.save({ record: parts.editable(node), draft, own }, ask),
          )
          if (saved.outcome === 'stored') learnSaved(parts, report, saved)
          return undefined
        },
      }
    )
  }

  return node => ({
    key: keyOf(node),
    produce: ask => produce(node, ask),
    get editing() {
      return editing(node)
    },
    outlivesText: false,
    ...recordTimes(times, keyOf(node)),
    opened: nothingToRemember,
  })
}

const reportOf = ({ id }: OrderNode): Extract<RecordNode, { of: 'report' }> => ({
  kind: 'record',
  of: 'report',
  id,
})

function nothingToRemember(): void {}
