/** A process that sends a body with many names over and over: `node senders.ts <JSON>`. Reports once a second what it sent. */
import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Held } from './holders.ts'

export interface SenderOrder {
  url: string
  path: string
  token: string
  /** Connections, each with one body at a time. */
  count: number
  names: number
}

const { url, path, token, count, names } = JSON.parse(process.argv[2] ?? '{}') as SenderOrder
const body = Buffer.from(`{${Array.from({ length: names }, (_, i) => `"name${i}":1`).join(',')}}`)
const agent = new Agent({ keepAlive: true, maxSockets: count })
/** Opened: bodies sent. Answered: refused as documented. */
const held: Held = { opened: 0, held: count, answered: 0 }

const send = (): Promise<void> =>
  new Promise((resolve) => {
    held.opened += 1
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
    }
    request(new URL(path, url), { method: 'POST', agent, headers }, (answer) => {
      if ([400, 413, 429].includes(answer.statusCode ?? 0)) held.answered += 1
      answer.resume().once('close', resolve)
    })
      .once('error', () => resolve())
      .end(body)
  })

const sendForever = async (): Promise<void> => {
  for (;;) {
    const startedAt = performance.now()
    await send()
    await setTimeout(Math.max(0, 50 - (performance.now() - startedAt)))
  }
}

for (let index = 0; index < count; index++) void sendForever()
setInterval(() => process.send?.(held), 1_000)
