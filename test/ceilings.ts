// How large the house may be: ceilings that only sink. A commit that lowers a figure lowers its ceiling.

/** Each ceiling is the figure of the newest commit that lowered it; what it counts is in test/house-size.ts. */
export const ceilings = {
  'lines of src': 51_319,
  'files of src': 396,
  'lines of test': 49_972,
  'rules of docs/semantics.md': 110,
  'bytes of docs/semantics.md': 27_851,
  'rules of docs/commands.md': 85,
  'bytes of docs/commands.md': 14_041,
  'rules of more than 40 words': 2,
  'constants of time in src': 88,
  'bytes of all documents': 205_393,
} as const
