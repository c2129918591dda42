import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIPv6 } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Config } from '@portcullis/platform/server/config.ts'
import { isLoopbackHost } from '@portcullis/platform/server/http/local-caller.ts'

export interface OwnServerAnswer {
  status: number
  /** Whether the response has the format of this product. */
  isOurs: boolean
  /** SHA-256 of its certificate, as X509Certificate returns it; null for plain HTTP. */
  fingerprint: string | null
  text: string
}

/** Asks the local server of this configuration, by default whether it is ready. */
export const askOwnServer = (
  { host, port, tls }: Config,
  timeoutMs = 5_000,
  { path, most, token }: { path: string; most: number; token?: string } = { path: '/readyz', most: 10_000 },
): Promise<OwnServerAnswer> =>
  new Promise((resolve, reject) => {
    const isPlain = tls === null && isLoopbackHost(host)
    const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
    const url = `${isPlain ? 'http' : 'https'}://${isIPv6(own) ? `[${own}]` : own}:${port}${path}`
    // The request stays on this machine and sends nothing of value. A server with an expired certificate can be ready.
    const call = (isPlain ? httpRequest : httpsRequest)(
      url,
      {
        timeout: timeoutMs,
        rejectUnauthorized: false,
        agent: false,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      },
      (answer) => {
        const { socket } = answer
        const fingerprint =
          'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate().fingerprint256 : null
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          text = (text + part).slice(0, most)
        })
        answer.once('error', reject)
        answer.once('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            isOurs: /^\{"status":"OK"\}$|"code":"unavailable"/.test(text),
            fingerprint,
            text,
          }),
        )
      },
    )
    call.once('timeout', () => call.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)))
    call.once('error', reject)
    call.end()
  })
