// The command that a message names signs in the very user that was refused, as a shell reads it.
import t from 'tap'
import { loginCommand } from '../src/login-command.js'

t.test('the user is named, as one word of the shell', async t => {
  const url = 'https://chem.example/create/rest'
  t.equal(loginCommand(url, 'guest'), `calcfs login ${url} --user guest`)
  t.equal(loginCommand(url, "o'neil b"), `calcfs login ${url} --user 'o'\\''neil b'`)
  t.equal(loginCommand(url, undefined), `calcfs login ${url}`, 'of one who is not known nothing is said')
})
