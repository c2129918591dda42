/** Measures the cost of grouping events into alerts and of sending each of them to a SIEM. */

import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Installation, startServer } from '../kit/installation.ts'
import { connect as connectDatabase } from '../kit/stored.ts'
import { atLeast, atMost, figure, round } from '../kit/verdict.ts'
import type { BenchResult, Settings } from './result.ts'

/** Event rate of a million hosts that check in once a minute, each with one event. */
const mostEventsPerSecond = 1_000_000 / 60
/** Messages that have not arrived by then count as lost. */
const lostAfterMs = 600_000

const base = '/prime/webui/systemNotification'
/** Every message of the benchmark contains this text exactly once. */
const mark = 'eventID='

/** Starts a receiver of octet-counted syslog that reads as fast as it can. It counts bytes and messages. */
const startReceiver = async () => {
  const seen = { bytes: 0, messages: 0 }
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    let rest = ''
    socket.on('data', (part: Buffer) => {
      seen.bytes += part.length
      const text = rest + part.toString('latin1')
      seen.messages += text.split(mark).length - 1
      // A chunk may end in the middle of a mark.
      rest = text.slice(-(mark.length - 1))
    })
    socket.on('end', () => socket.end())
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { seen, port: (server.address() as { port: number }).port, [Symbol.dispose]: () => void server.close() }
}

/**
 * Sends the same bytes through a bare socket until the receiver has read them: the cost of network and receiver alone.
 */
const bareSeconds = async (port: number, bytes: number): Promise<number> => {
  const chunk = Buffer.alloc(64 * 1024, 0x78)
  const startedAt = performance.now()
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let left = bytes
    const write = (): void => {
      while (left > 0) {
        const some = chunk.subarray(0, Math.min(left, chunk.length))
        left -= some.length
        if (!socket.write(some)) {
          socket.once('drain', write)
          return
        }
      }
      socket.end()
    }
    socket.on('error', reject)
    socket.resume()
    socket.on('end', () => resolve())
    socket.on('connect', write)
  })
  return (performance.now() - startedAt) / 1000
}

/** Adds events of blocked devices of fifty models, in the form that ingest stores: one stream without gaps. */
const appendEvents = async (server: Installation, count: number): Promise<void> => {
  await using client = await connectDatabase(server.connection)
  await client.query('select ensure_event_partitions($1)', [count])
  for (let done = 0; done < count; done += 5_000)
    await client.query(
      `with h as (update ordered_head set n = n + $1 where stream = 'events' returning n)
       insert into events (event_id, created_at, code, category, severity, entity, description, details)
       select h.n - $1 + g, now(), 1114129, 0, 3, 'HOST-' || g || ' (10.0.0.1)', 'USB peripheral blocked',
         '[Agent] Device VID/PID are 1209/' || lpad((g % 50)::text, 4, '0') || '  (Maker Model ' || g % 50 || ')'
       from h, generate_series(1, $1::bigint) g`,
      [Math.min(5_000, count - done)],
    )
}

export const benchAlerts = async ({ databaseUrl, isQuick }: Settings): Promise<BenchResult> => {
  const events = isQuick ? 50_000 : 500_000
  using receiver = await startReceiver()
  await using server = await startServer({ databaseUrl, env: { PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8' } })
  const ask = async (path: string, body?: unknown) => server.call(path, body, await server.signIn())
  const run = async (isStreaming: boolean) => {
    await ask(`${base}/notifications/update`, {
      id: 6,
      channels: {
        syslog: {
          isEnabled: isStreaming,
          address: `127.0.0.1:${receiver.port}`,
          protocol: 'tcp',
          format: 'rfc5424',
        },
      },
    })
    await pause(3_000)
    const cpu = server.cpu()
    const counted = async (): Promise<number> =>
      ((await ask(`${base}/riskNotifications`)) as unknown as { count: number }[]).reduce(
        (n, { count }) => n + count,
        0,
      )
    const before = await counted()
    const seen = receiver.seen.messages
    await appendEvents(server, events)
    const startedAt = performance.now()
    const isLate = (): boolean => performance.now() - startedAt > lostAfterMs
    while ((await counted()) < before + events && !isLate()) await pause(50)
    const folded = (performance.now() - startedAt) / 1000
    while (isStreaming && receiver.seen.messages < seen + events && !isLate()) await pause(20)
    const streamed = (performance.now() - startedAt) / 1000
    const after = server.cpu()
    return {
      folded,
      streamed,
      server: after.server - cpu.server,
      database: after.database - cpu.database,
      miscounted: Math.abs((await counted()) - before - events),
      lost: isStreaming ? Math.max(0, seen + events - receiver.seen.messages) : 0,
    }
  }
  const folding = await run(false)
  const both = await run(true)
  const bytes = receiver.seen.bytes
  const bare = await bareSeconds(receiver.port, bytes)
  const perEvent = (seconds: number): number => round((seconds / events) * 1e6, 1)
  return {
    what: `${events} events of 50 subjects; server, database and receiver on this machine; peer: the same bytes by a bare socket`,
    findings: [
      atLeast(
        'folded, events per second',
        round((events - folding.miscounted) / Math.max(folding.folded, 0.001)),
        round(mostEventsPerSecond),
        '/s',
      ),
      figure('server, processor time per folded event', perEvent(folding.server), 'µs'),
      figure('database, processor time per folded event', perEvent(folding.database), 'µs'),
      atLeast(
        'streamed to syslog, events per second',
        round((events - both.lost) / both.streamed),
        round(mostEventsPerSecond),
        '/s',
      ),
      figure('server, processor time per folded and streamed event', perEvent(both.server), 'µs'),
      atMost('events folded into no notice or twice', folding.miscounted + both.miscounted, 0),
      atMost('events that syslog did not get', both.lost, 0),
      figure('bare socket, events per second', round(events / bare), '/s'),
    ],
  }
}
