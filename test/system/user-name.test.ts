// Promises of the name of a user: with the number, and the number alone where the system has no name.
import t from 'tap'
import { userPhrase } from '../../src/system/user-name.js'

t.test('a user is named with name and number (CMD-13)', async t => {
  t.equal(await userPhrase(0), 'root (user id 0)')
  t.equal(await userPhrase(3_999_999_999), 'user id 3999999999', 'one that this machine does not know')
  t.equal(await userPhrase(undefined), 'another user')
})
