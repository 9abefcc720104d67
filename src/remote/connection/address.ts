// The service's address: a web address as typed, completed to the base of the REST interface.
import { Failure } from '../../failure.js'

const usual = '/create/rest'

/** `https://host` becomes `https://host/create/rest`; a path of its own is kept, without a trailing slash. @throws Failure 'refused' that says what to type instead */
export function baseUrl(text: string, plainHttp: 'loopback-only' | 'anywhere' = 'loopback-only'): URL {
  const typed = text.trim()
  const url = parseAddress(typed)
  if (url.username !== '' || url.password !== '') {
    throw addressRefused('leave the user name and password out of the address; they come from `calcfs login`')
  }
  if (url.search !== '' || url.hash !== '')
    throw addressRefused(`leave out what stands after ${url.origin}${url.pathname}`)
  if (url.protocol === 'http:' && plainHttp === 'loopback-only' && !isLoopback(url)) {
    throw addressRefused(
      `plain http would show your password to the network; use https://${url.host} or --insecure-http`,
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  return new URL(`${url.origin}${path === '' ? usual : path}`)
}

/** True where the traffic never leaves this machine. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  )
}

function parseAddress(typed: string): URL {
  if (!typed.includes('://') || !URL.canParse(typed))
    throw addressRefused(
      `"${withoutCredentials(typed)}" is no web address; type it like https://create.example.org, or name a profile with --profile`,
    )
  const url = new URL(typed)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw addressRefused(`a service is reached over https, not over ${url.protocol.slice(0, -1)}`)
  }
  return url
}

/** A typed address may hold a password before an `@`: it is not repeated. */
const withoutCredentials = (typed: string): string => typed.replace(/^(.*\/\/)?[^/@]*@/, '$1…@').slice(0, 200)

const addressRefused = (sentence: string): Failure => new Failure('refused', sentence)
