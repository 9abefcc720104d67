// Preloaded into each test file: tap follows every promise of a process through an async hook, to name the test that an error thrown outside of any belongs to. That costs a seventh of a run. Without it, such an error ends its file, which then fails with the error on stderr.
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const inert = { enable: () => inert, disable: () => inert }
asyncHooks.createHook = () => inert
syncBuiltinESMExports()
