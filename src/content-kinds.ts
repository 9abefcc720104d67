// Kinds of downloadable content: a calculation's own files, and files that the service generates. A row per kind.

/** A file that no list names: the service generates it. */
export interface DerivedKind {
  /** Its name in messages, `user.calcfs.kind` and prefetch. */
  readonly label: string
  /** The ending of its name, which begins with the calculation's title. */
  readonly ending: string
  /** True if a file of this title is what it is made of. */
  isSource(title: string): boolean
  /** The least size in bytes: a smaller stated length is no length of it. */
  readonly fewestBytes: number
}

/** A row per kind of file that the service generates; its endpoint stands in `remote/rest/rest.ts`. */
export const derivedKinds = {
  xyz: {
    label: 'geometry',
    ending: '.xyz',
    isSource: title => /\.cml$/i.test(title),
    // One atom: `1`, a line without text, `H 0 0 0`.
    fewestBytes: 11,
  },
} as const satisfies Record<string, DerivedKind>

export type DerivedName = keyof typeof derivedKinds
export type ContentKindName = 'file' | DerivedName

/** In the order in which a directory shows them. */
export const derivedNames = Object.keys(derivedKinds) as readonly DerivedName[]

/** Undefined for a calculation's own file. */
export const derivedKindOf = (of: ContentKindName): DerivedKind | undefined =>
  of === 'file' ? undefined : derivedKinds[of]

/** The name of the kind for users and programs. */
export const contentLabel = (of: ContentKindName): string => derivedKindOf(of)?.label ?? 'file'
