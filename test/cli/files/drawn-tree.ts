// A tree of projects and calculations as drawn: titles that services really hold, equal ones and hostile ones among them.
import type { Seed } from '../../../src/service/seed.js'
import type { Chance } from '../../long/chance.js'
import { anyTitle } from '../../long/titles.js'
import { cml } from '../../testbed/sample-data.js'

const hostile = ['../../../etc/passwd', '/etc/passwd', '..', '.', 'a/../../b', '~root', '-rf', 'x\ny', 'CON']

/** Some dozen projects and calculations beside the sample data. */
export function drawnTree(draw: Chance): (seed: Seed) => void {
  return seed => {
    let id = 5_000
    // The bundled service keeps no half of a pair.
    const title = (): string =>
      (draw.once(4) ? draw.of(hostile) : anyTitle(draw)).replace(/[\ud800-\udfff]/g, 'x')
    const below = (parent: string | undefined, depth: number): void => {
      const count = draw.whole(1, 3)
      for (let at = 0; at < count; at += 1) {
        id += 1
        const project = String(id)
        const place = parent === undefined ? {} : { parent }
        seed.addProject({ id: project, name: title(), owner: 'demo', ...place })
        if (depth > 0) below(project, depth - 1)
        for (let calculation = draw.whole(0, 3); calculation > 0; calculation -= 1) {
          id += 1
          const name = draw.of(['a b.txt', '.hidden', '-n', 'é.log', '..x'])
          const files = { 'output.cml': cml, [name]: draw.word(0, 900) }
          seed.addCalculation({ id: String(id), name: title(), project, files })
        }
      }
    }
    below(undefined, 1)
  }
}
