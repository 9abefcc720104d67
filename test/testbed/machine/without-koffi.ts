// A machine on which koffi cannot be loaded: imported before the daemon begins.
import { register } from 'node:module'

const hooks = `export async function resolve(name, context, next) {
  if (name === 'koffi') throw new Error('koffi is not here')
  return next(name, context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
