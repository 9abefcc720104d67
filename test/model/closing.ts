// The end of a sequence: the service is there again, and nothing waits that the next one could trip over.
import { outcome } from '../testbed/testbed.js'
import { comeBack } from './actions/time.js'
import type { Stage } from './stage.js'

export async function closeStage(stage: Stage): Promise<void> {
  const { files } = stage.theatre.testbed
  await comeBack(stage)
  await stage.theatre.testbed.pass(6_000)
  for (const directory of ['.calcfs/drafts', 'reports']) {
    for (const name of (await files.readdir(directory)).keys()) {
      const isLeft =
        directory === '.calcfs/drafts' || !/^(\d+(\.json)?|INDEX\.tsv|README\.txt|by-name)$/.test(name)
      // A draft goes with its why, so some of these names are gone already.
      if (isLeft) await outcome(files.unlink(`${directory}/${name}`))
    }
  }
  await stage.theatre.testbed.pass(6_000)
}
