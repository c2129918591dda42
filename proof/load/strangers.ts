/** Measures a working fleet beside clients that hold connections or send costly bodies. */

import type { Order } from '../kit/attackers.ts'
import { atLeast, type Finding } from '../kit/verdict.ts'
import { startWorkingFleet } from '../kit/working-fleet.ts'
import type { BenchResult, Settings } from './result.ts'

const hosts = 200
const consoles = 20
/** Slow readers; twice as many idle connections. */
const clients = 10_000
const interval = 5
/** Connections that the attacker opens per second. */
const perSecond = 250
const bodyNames = 600_000
const senders = 4

const head = (path: string, more = '', method = 'GET'): string => `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

/** Returns the attacks by name. */
const attacksOf = (url: string, token: string): Readonly<Record<string, Order>> => {
  const authorization = `Authorization: Bearer ${token}\r\n`
  const held = { does: 'hold', url, perSecond, againMs: 60_000 } as const
  const heads = [head('/openapi.json'), head('/agent/v1/download/linux-x64')]
  const body = `{${Array.from({ length: bodyNames }, (_, i) => `"name${i}":1`).join(',')}}`
  const more = `${authorization}Connection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  const request = head('/prime/webui/policy/tags/preview', more, 'POST') + body
  return {
    'slow readers from one address': { ...held, count: clients, addresses: 1, heads, reads: 'slowly' },
    'slow readers from 2,000 addresses': { ...held, count: clients, addresses: 2_000, heads, reads: 'slowly' },
    'idle connections of one account': {
      ...{ ...held, count: clients * 2, addresses: 2_000, reads: 'all' },
      heads: [head('/prime/webui/admin/profile', authorization)],
    },
    'bodies with 600,000 names of a User': { does: 'send', url, restMs: 50, requests: Array(senders).fill(request) },
  }
}

export const benchStrangers = async ({ isQuick }: Settings): Promise<BenchResult> => {
  const seconds = isQuick ? 60 : 90
  await using fleet = await startWorkingFleet({ hosts, consoles, interval })
  const figures: Finding[] = []
  const notRun: string[] = []
  for (const [name, order] of Object.entries(attacksOf(fleet.server.url, fleet.attacker))) {
    const what = (figure: string): string => `${name}: ${figure}`
    const { findings, counts, files } = await fleet.attacked({ what, orders: [order], seconds })
    const { opened = 0, answered = 0, statuses = {} } = counts[0] ?? {}
    const refused = [400, 413, 429].reduce((sum, status) => sum + (statuses[status] ?? 0), 0)
    const beside = `${answered} answered, at most ${files} open files of the server`
    figures.push(
      order.does === 'hold'
        ? atLeast(what('connections opened'), opened, order.count, '', beside)
        : atLeast(what('bodies refused'), refused, 20),
      ...findings,
    )
    if (fleet.server.isRunning()) continue
    notRun.push(`the attacks after the ${name}: the server ended`)
    break
  }
  return {
    what: `${hosts} hosts with wake sockets that check in every ${interval} s and ${consoles} consoles beside ${clients} clients that read the API document or the agent at a byte per 10 s, from one and from 2,000 addresses, beside ${clients * 2} idle connections of one account, and beside ${senders} connections of a User that send bodies with ${bodyNames} names; each attack ${seconds} s; ${perSecond} connections opened per second, and again a minute after they were closed; load generator on the same cores`,
    findings: [...figures, await fleet.hostsStopped()],
    notRun,
  }
}
