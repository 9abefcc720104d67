// A life outside the test runner: what a figure starts is ended in reverse order.
import type { TestLifetime } from '../testbed/testbed.js'

/** Runs the work and then everything that it handed to `teardown`, whatever became of it. */
export async function scoped<Value>(work: (scope: TestLifetime) => Promise<Value>): Promise<Value> {
  const endings: (() => unknown)[] = []
  const scope = {
    teardown(...given: unknown[]) {
      for (const ending of given) if (typeof ending === 'function') endings.push(() => ending())
    },
  }
  try {
    return await work(scope)
  } finally {
    for (const ending of endings.reverse()) await ending()
  }
}
