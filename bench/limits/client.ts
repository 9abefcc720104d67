// The minimal HTTP client: undici's own dispatch, a fixed number of connections, one token.
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'

export interface RawClient {
  /** The body of a GET as text; `path` is below the REST base. */
  text(path: string): Promise<string>
  /** Reads a body and discards it; resolves with its length in bytes. */
  drain(path: string): Promise<number>
  /** The length that HEAD states, in bytes. */
  head(path: string): Promise<number>
  traffic(): { readonly requests: number; readonly bytes: number }
  close(): Promise<void>
}

const base = '/create/rest/'

/** Logs in first. Every answer but a 200 rejects. */
export async function rawClient(
  url: string,
  connections: number,
  authorityFile: string | undefined,
): Promise<RawClient> {
  const connect = authorityFile === undefined ? {} : { connect: { ca: readFileSync(authorityFile) } }
  const pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, ...connect })
  const basic = `Basic ${Buffer.from('demo:demo').toString('base64')}`
  let requests = 0
  let bytes = 0

  function ask(
    method: 'GET' | 'HEAD' | 'POST',
    path: string,
    take: { authorization: string; piece?: (piece: Buffer) => void },
  ): Promise<number> {
    requests += 1
    let length = 0
    return new Promise((resolve, reject) => {
      pool.dispatch(
        {
          method,
          path: `${base}${path}`,
          headers: { authorization: take.authorization, accept: '*/*' },
          // By default undici closes the connection after a HEAD.
          reset: false,
        },
        {
          onRequestStart: () => undefined,
          onResponseStart(_controller, status, headers) {
            if (status !== 200) reject(new Error(`${method} ${path} was answered with ${status}`))
            if (method === 'HEAD') length = Number(headers['content-length'])
          },
          onResponseData(_controller, piece) {
            length += piece.length
            bytes += piece.length
            take.piece?.(piece)
          },
          onResponseEnd: () => resolve(length),
          onResponseError: (_controller, error) => reject(error),
        },
      )
    })
  }

  async function text(method: 'GET' | 'POST', path: string, authorization: string): Promise<string> {
    const pieces: Buffer[] = []
    await ask(method, path, { authorization, piece: piece => pieces.push(piece) })
    return Buffer.concat(pieces).toString()
  }

  const authorization = `Bearer ${await text('POST', 'login', basic)}`
  return {
    text: path => text('GET', path, authorization),
    drain: path => ask('GET', path, { authorization }),
    head: path => ask('HEAD', path, { authorization }),
    traffic: () => ({ requests, bytes }),
    close: () => pool.close(),
  }
}
