// Certificates for an address, good ones and wrong ones, made by openssl for one test.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scratch } from '../disk/scratch.js'
import { printed } from '../programs.js'
import type { TestLifetime } from '../testbed.js'

export type Authority = Awaited<ReturnType<typeof authority>>

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

export async function authority(t: TestLifetime) {
  const directory = await scratch(t)
  const at = (name: string): string => join(directory, name)
  const openssl = (...words: string[]) => printed('openssl', words)
  const whose = ['-subj', '/CN=authority', '-addext', 'basicConstraints=critical,CA:TRUE', '-days', '30']
  await openssl('req', '-x509', ...newKey, ...whose, '-keyout', at('own.key'), '-out', at('own.pem'))
  let count = 0
  return {
    /** PEM, as `--ca-file` takes it. */
    file: at('own.pem'),
    /** As `createServer` of node:tls takes it. @param days for which it is valid; of a negative number it has expired */
    async signed(address: string, days = 30) {
      count += 1
      const own = (end: string): string => at(`${count}.${end}`)
      await openssl('req', ...newKey, '-subj', '/CN=service', '-keyout', own('key'), '-out', own('csr'))
      await writeFile(own('ext'), `subjectAltName=IP:${address}\n`)
      const by = ['-CA', at('own.pem'), '-CAkey', at('own.key'), '-set_serial', `${count}`]
      const how = ['-days', `${days}`, '-extfile', own('ext'), '-out', own('pem')]
      await openssl('x509', '-req', '-in', own('csr'), ...by, ...how)
      return { cert: await readFile(own('pem'), 'utf8'), key: await readFile(own('key'), 'utf8') }
    },
  }
}
