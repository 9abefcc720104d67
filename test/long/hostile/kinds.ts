// All kinds of odd answers.
import type { Kind } from './kind.js'
import { bodyKinds } from './kinds-body.js'
import { headKinds } from './kinds-head.js'
import { statusKinds } from './kinds-status.js'

export const kinds: readonly Kind[] = [...statusKinds, ...headKinds, ...bodyKinds]
