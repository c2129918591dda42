import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, string | number> }[]
  status: { code?: number }
}

/** Receives OTLP as JSON over HTTP, like a collector. */
export const startTraceReceiver = async () => {
  const spans: ReceivedSpan[] = []
  const requests: { url: string; headers: IncomingHttpHeaders; body: string }[] = []
  let mode: 'take' | 'hang' | number = 'take'
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      requests.push({ url: request.url ?? '', headers: request.headers, body })
      if (mode === 'hang') return
      if (mode === 'take')
        for (const { scopeSpans } of JSON.parse(body).resourceSpans)
          for (const scope of scopeSpans) spans.push(...scope.spans)
      response.writeHead(mode === 'take' ? 200 : mode, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    /** `hang` reads and never answers. A number is the status of every answer. */
    set: (next: typeof mode) => {
      mode = next
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
