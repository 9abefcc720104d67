// Folders that are longer than others, each with its reason. test/house.test.ts holds it.

/** Folders that may hold more than sixteen files side by side, each with its reason. */
export const larger: Readonly<Record<string, string>> = {
  'src/cli/commands': 'one file a command, and each is read by itself',
  'test/cli/commands': 'the tests of those files',
}
