// Redacts credentials that a service, a proxy or an error message might echo.

const tokenForm = /eyJ[\w-]{5,}\.[\w-]+(\.[\w-]*)?/g

/** Everything in an Authorization header that could give it away. */
export function secretsIn(authorization: string | undefined): readonly string[] {
  if (authorization === undefined) return []
  const [scheme, value = ''] = authorization.split(' ')
  if (scheme !== 'Basic') return [value]
  const password = Buffer.from(value, 'base64')
    .toString()
    .replace(/^[^:]*:/, '')
  return [value, password]
}

/** The text with every secret, and everything that looks like a token, redacted. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.filter(secret => secret !== '')
  const without = known.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
  return without.replace(tokenForm, '[token]')
}
