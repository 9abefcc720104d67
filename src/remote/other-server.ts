// Another server in the place of the platform: how the status of its answer shows it. A captive portal, or a proxy.

const redirects = new Set([301, 302, 303, 307, 308])
/** Network Authentication Required, RFC 6585. */
const networkSignIn = 511

export const isRedirect = (status: number): boolean => redirects.has(status)

/** The platform sends no redirects, and asks for no sign-in to a network. */
export const isOtherServers = (status: number): boolean => isRedirect(status) || status === networkSignIn
