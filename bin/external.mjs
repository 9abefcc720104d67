// Packages that the bundled program imports from node_modules: those with a compiled part or a loader of their own, and such as only few commands load.
// fastify is in the bundle alone, and no dependency of an installation: its tree wants `cookie` 2, which needs Node 22, and npm passes by the overrides of what it installs.
export const external = ['fuse-native', 'koffi', 'libsql', 'pino', 'pino-pretty']

/** Development dependencies that the bundle holds. */
export const bundledOnly = ['fastify']
