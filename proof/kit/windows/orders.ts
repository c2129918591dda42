import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { windowsNodes } from '../../../agent/test/windows-nodes.ts'

type Report = Parameters<typeof windowsNodes>[0]

/** Returns the nodes of a device as `guest/devices.ts` attaches them. */
export const fixtures = (report: Report) =>
  windowsNodes(report).map(({ instanceId, properties }) => ({
    instanceId,
    properties: Object.entries(properties).map(([name, { type, data }]) => [
      name,
      type,
      Buffer.from(data ?? []).toString('base64'),
    ]),
  }))

/** Serves orders to a program under Wine, one per request, and receives its responses. */
export const startOrders = async () => {
  const waiting: object[] = []
  const answers: string[] = []
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return response.end(JSON.stringify(waiting.shift() ?? {}))
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    return request.on('end', () => {
      answers.push(text)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    send: (order: object) => void waiting.push(order),
    answers,
    close: () => server.close(),
  }
}
