// What can be downloaded of a calculation: its own files, and what the service makes of them when it is asked. A row a kind.

/** A file that no list names: the service makes it, and its size is not known before it is made. */
export interface DerivedKind {
  /** What messages, `user.calcfs.kind` and prefetch call it. */
  readonly label: string
  /** How its name ends, which begins with the calculation's title. */
  readonly ending: string
  /** The type of the calculation's files it is made of: where the service lists none of them, there is nothing to make. */
  readonly source: 'cml'
  /** True if a file of this title is such a source; others may be, too: the service says so. */
  isSource(title: string): boolean
  /** The fewest bytes that one can have: fewer are no length of it. */
  readonly fewestBytes: number
}

/** Design: the drive's layout. A new row needs a path in `remote/rest/rest.ts` besides. */
export const derivedKinds = {
  xyz: {
    label: 'geometry',
    ending: '.xyz',
    source: 'cml',
    isSource: title => /\.cml$/i.test(title),
    // One atom: `1`, a line without text, `H 0 0 0`.
    fewestBytes: 11,
  },
} as const satisfies Record<string, DerivedKind>

export type DerivedName = keyof typeof derivedKinds
export type SourceType = DerivedKind['source']
export type ContentKindName = 'file' | DerivedName

/** In the order in which a directory shows them. */
export const derivedNames = Object.keys(derivedKinds) as readonly DerivedName[]

/** Undefined for a calculation's own file. */
export const derivedKindOf = (of: ContentKindName): DerivedKind | undefined =>
  of === 'file' ? undefined : derivedKinds[of]

/** What people and programs call the kind. */
export const contentLabel = (of: ContentKindName): string => derivedKindOf(of)?.label ?? 'file'
