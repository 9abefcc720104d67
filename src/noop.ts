// A function that does nothing, for a callback that has nothing to do.

export const noop = (): void => {}
