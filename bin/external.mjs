// Packages that the bundled program imports from node_modules: those with a compiled part or a loader of their own, and such as only few commands load.
export const external = ['fastify', 'fuse-native', 'libsql', 'pino', 'pino-pretty']
