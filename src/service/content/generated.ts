// Files that the service generates of a calculation's own ones. A row per kind; its key is its endpoint and the ending of its name.
import { geometryOf } from './geometry.js'

interface GeneratedKind {
  /** What a refusal calls it. */
  readonly label: string
  /** The ending of the own files it is made of, which is also the type that /calculation/files lists them by. */
  readonly source: string
  /** The whole file from the bytes of its source; undefined where that holds none. */
  make(source: Uint8Array, title: string): string | undefined
}

/** The first is served at /calculation/xyz as NAME.xyz. */
export const generatedKinds = {
  xyz: { label: 'geometry', source: 'cml', make: geometryOf },
} as const satisfies Record<string, GeneratedKind>

export type GeneratedName = keyof typeof generatedKinds
export type SourceType = (typeof generatedKinds)[GeneratedName]['source']

export const generatedNames = Object.keys(generatedKinds) as readonly GeneratedName[]
export const sourceTypes: readonly SourceType[] = [
  ...new Set(generatedNames.map(name => generatedKinds[name].source)),
]
