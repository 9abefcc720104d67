// How large the house may be: ceilings that only sink. A commit that lowers a figure lowers its ceiling.

/** Each ceiling is the figure of the newest commit that lowered it; what it counts is in test/house-size.ts. */
export const ceilings = {
  'lines of src': 54_990,
  'files of src': 509,
  'lines of test': 56_670,
  'rules of docs/semantics.md': 151,
  'bytes of docs/semantics.md': 40_756,
  'rules of docs/commands.md': 85,
  'bytes of docs/commands.md': 15_300,
  'rules of more than 40 words': 32,
  'constants of time in src': 102,
  'bytes of all documents': 220_036,
} as const
