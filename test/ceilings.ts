// How large the house may be: ceilings that only sink. A commit that lowers a figure lowers its ceiling.

/** Each ceiling is the figure of the newest commit that lowered it; what it counts is in test/house-size.ts. */
export const ceilings = {
  'lines of src': 44_312,
  'files of src': 317,
  'lines of test': 35_935,
  'rules of docs/semantics.md': 110,
  'bytes of docs/semantics.md': 27_202,
  'rules of docs/commands.md': 76,
  'bytes of docs/commands.md': 11_936,
  'rules of more than 40 words': 0,
  'constants of time in src': 72,
  'bytes of all documents': 126_399,
} as const
