// How large the house may be: ceilings that only sink. A commit that lowers a figure lowers its ceiling.

/** Each ceiling is the figure of the newest commit that lowered it; what it counts is in test/house-size.ts. */
export const ceilings = {
  'lines of src': 60_229,
  'files of src': 548,
  'lines of test': 56_990,
  'rules of docs/semantics.md': 268,
  'bytes of docs/semantics.md': 69_900,
  'rules of docs/commands.md': 162,
  'bytes of docs/commands.md': 44_800,
  'rules of more than 40 words': 168,
  'constants of time in src': 149,
  'bytes of all documents': 327_000,
} as const
