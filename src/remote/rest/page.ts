// A document of HTML as content: a sign-in page, a portal's and an error look the same.
import { asFailure, Failure } from '../../failure.js'
import type { Body } from '../remote.js'

const nameOfPage = /\.x?html?$/i

/**
 * The same body where `answered` shows that the platform, and no other server, answers now. Under a name other than `.html`
 * it must come twice the same.
 * @throws Failure 'broken' where nothing shows that the platform has sent it
 */
export async function provenPage(body: Body, title: string, answered: () => Promise<unknown>): Promise<Body> {
  try {
    await answered()
  } catch (thrown) {
    body.cancel()
    const { message, said, isForeign } = asFailure(thrown)
    const sentence = `a web page came in the place of ${title}, and nothing shows that it is the file: ${message}`
    throw new Failure('broken', sentence, { said, isForeign })
  }
  return nameOfPage.test(title) ? body : { ...body, ends: 'twice' }
}
