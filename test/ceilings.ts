// How large the house may be: ceilings that only sink. A commit that lowers a figure lowers its ceiling.

/** Each ceiling is the figure of the newest commit that lowered it; what it counts is in test/house-size.ts. */
export const ceilings = {
  'lines of src': 50_220,
  'files of src': 352,
  'lines of test': 42_815,
  'rules of docs/semantics.md': 110,
  'bytes of docs/semantics.md': 27_849,
  'rules of docs/commands.md': 85,
  'bytes of docs/commands.md': 14_037,
  'rules of more than 40 words': 2,
  'constants of time in src': 84,
  'bytes of all documents': 203_577,
} as const
