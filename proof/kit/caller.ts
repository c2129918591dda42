import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

/** Creates a function for API calls that prepare a benchmark: JSON in, JSON out. It throws on any status but 200. */
export const createCaller =
  (url: string, ca: string | undefined) =>
  (path: string, body?: unknown, token?: string, method?: string): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const send = url.startsWith('https:') ? httpsRequest : httpRequest
      const options = {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(ca === undefined ? {} : { ca }),
      }
      const sent = send(url + path, options, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('error', reject)
        response.on('end', () => {
          if (response.statusCode === 200) resolve(JSON.parse(text) as Record<string, unknown>)
          else reject(new Error(`${path} returned status ${response.statusCode}: ${text.slice(0, 500)}`))
        })
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
