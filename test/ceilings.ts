// How large the house may be: ceilings that only sink. A commit that lowers a figure lowers its ceiling.

/** Each ceiling is the figure of the newest commit that lowered it; what it counts is in test/house-size.ts. */
export const ceilings = {
  'lines of src': 53_569,
  'files of src': 407,
  'lines of test': 54_421,
  'rules of docs/semantics.md': 147,
  'bytes of docs/semantics.md': 37_948,
  'rules of docs/commands.md': 85,
  'bytes of docs/commands.md': 14_061,
  'rules of more than 40 words': 19,
  'constants of time in src': 89,
  'bytes of all documents': 215_030,
} as const
