// Writes a draft in pieces of 100 bytes and reports each size after it was answered, until it is killed.
import { openDrafts } from '../../../src/edit/journal/drafts.js'
import { instant } from '../../../src/remote/remote.js'

const [directory = ''] = process.argv.slice(2)
const draft = await (await openDrafts(directory, () => instant(1))).create({ kind: 'report', id: '42' })
process.on('disconnect', () => process.exit(1))
while (draft.size < 1_000_000) {
  await draft.write(Buffer.alloc(100, 'x'), draft.size)
  process.send?.(draft.size)
}
