// How large the house may be: ceilings that only sink. A commit that lowers a figure lowers its ceiling.

/** Each ceiling is the figure of the newest commit that lowered it; what it counts is in test/house-size.ts. */
export const ceilings = {
  'lines of src': 53_641,
  'files of src': 408,
  'lines of test': 54_884,
  'rules of docs/semantics.md': 151,
  'bytes of docs/semantics.md': 40_639,
  'rules of docs/commands.md': 85,
  'bytes of docs/commands.md': 14_062,
  'rules of more than 40 words': 25,
  'constants of time in src': 97,
  'bytes of all documents': 217_820,
} as const
