// Growing LRU cache: at most so many entries, in arrays that grow with them. The library's own `max` allocates room for all of them at once, which took each mount 3 MB and 20 ms.

/** Options of an LRUCache that holds so many entries at most. */
export const upTo = (
  entries: number,
): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
})
