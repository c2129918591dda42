import { type LiveHint, live, liveHints } from '../contract/live.ts'
import { AppError } from './app-error.ts'
import type { Bus } from './db/bus.ts'
import type { Tx } from './db/db.ts'
import { answered } from './http/answer.ts'
import type { HttpApp } from './http/http-app.ts'

/** Ids per message. With more, the message says "many", and the console reloads what it shows. */
const idsPerMessage = 100
/** Changes are batched for this long, so that a busy fleet sends a viewer four messages per second. */
const gatherMs = 250
const pingMs = 15_000
/** Viewers per server. */
const maxViewers = 1_000
/** Viewers per account: the number of tabs that one person may have open. */
const maxPerAccount = 20
/** Seconds after which a refused viewer may retry. */
const retryAfter = 60

/** Equals the lifetime of an access token: a viewer reconnects with a new one. */
const viewMs = 15 * 60_000

interface Viewer {
  accountId: string | null
  send(text: string): void
  close(): void
}

/** Notifies every open console at COMMIT whose rows changed, or just that something changed if nothing is named. */
export type Announce = (
  tx: Tx,
  change: { agents?: readonly string[]; peripherals?: readonly string[] },
) => Promise<void>

/** Notifies every open console at COMMIT that it should reload this kind of data. */
export type Hint = (tx: Tx, hint: LiveHint) => Promise<void>

/** Sends changes of the fleet to every open console of every replica. */
export const createLive = (app: HttpApp, bus: Bus) => {
  const viewers = new Set<Viewer>()
  const gathered = {
    agents: new Set<string>(),
    peripherals: new Set<string>(),
    many: false,
    events: false,
    hints: new Set<LiveHint>(),
  }
  let timer: NodeJS.Timeout | null = null

  function tell(event: string, data: unknown): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    for (const viewer of viewers) viewer.send(text)
  }

  function flush(): void {
    timer = null
    const changed = (ids: Set<string>) => ({ changed: gathered.many || ids.size > idsPerMessage ? null : [...ids] })
    if (gathered.many || gathered.agents.size > 0) tell('agents', changed(gathered.agents))
    if (gathered.many || gathered.peripherals.size > 0) tell('peripherals', changed(gathered.peripherals))
    if (gathered.events) tell('events', {})
    for (const hint of gathered.hints) tell(hint, {})
    if (gathered.many || gathered.events || gathered.agents.size > 0) tell('summary', {})
    gathered.hints.clear()
    gathered.agents.clear()
    gathered.peripherals.clear()
    gathered.many = false
    gathered.events = false
  }

  bus.on('fleet', (message) => {
    if (viewers.size === 0) return
    const { agents, peripherals } = message as unknown as { agents: string[] | null; peripherals: string[] | null }
    if (agents === null || peripherals === null) gathered.many = true
    for (const id of agents ?? []) gathered.agents.add(id)
    for (const id of peripherals ?? []) gathered.peripherals.add(id)
    gathered.events = true
    timer ??= setTimeout(flush, gatherMs)
  })
  bus.on('hint', (message) => {
    if (viewers.size === 0) return
    gathered.hints.add(message.hint as LiveHint)
    timer ??= setTimeout(flush, gatherMs)
  })
  bus.onGap(() => {
    gathered.many = true
    for (const hint of liveHints) gathered.hints.add(hint)
    gathered.events = true
    timer ??= setTimeout(flush, gatherMs)
  })
  const pings = setInterval(() => tell('ping', {}), pingMs).unref()

  app.register(live, async ({ actor, reply, request }) => {
    const own = [...viewers].filter(({ accountId }) => accountId === actor.accountId)
    // Refused, instead of closing the oldest: pages that reconnect would displace each other forever.
    if (own.length >= maxPerAccount)
      throw new AppError(
        'too_many_requests',
        { seconds: retryAfter },
        { headers: { 'retry-after': String(retryAfter) } },
      )
    reply.hijack()
    const { raw } = reply
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) raw.setHeader(name, value as string)
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    const viewer: Viewer = {
      accountId: actor.accountId,
      // A viewer that does not read is disconnected; it reconnects and reloads.
      send: (text) => {
        if (!raw.write(text) && raw.writableLength > 256 * 1024) raw.destroy()
      },
      close: () => raw.end(),
    }
    if (viewers.size >= maxViewers) viewers.values().next().value?.close()
    viewers.add(viewer)
    const life = setTimeout(viewer.close, viewMs).unref()
    request.raw.on('close', () => {
      clearTimeout(life)
      viewers.delete(viewer)
    })
    raw.on('error', () => viewers.delete(viewer))
    viewer.send('event: ping\ndata: {}\n\n')
    return answered
  })

  const short = (ids: readonly string[]): string[] | null => (ids.length > idsPerMessage ? null : [...ids])
  return {
    announce: ((tx, { agents = [], peripherals = [] }) =>
      bus.publish(tx, 'fleet', { agents: short(agents), peripherals: short(peripherals) })) satisfies Announce,
    hint: ((tx, hint) => bus.publish(tx, 'hint', { hint })) satisfies Hint,
    /** Ends the streams of these accounts (null: all) after a change of rights. Those who still may can reconnect. */
    endViews: (accountIds: readonly string[] | null): void => {
      for (const viewer of viewers)
        if (accountIds === null || (viewer.accountId !== null && accountIds.includes(viewer.accountId))) viewer.close()
    },
    close: (): void => {
      clearInterval(pings)
      if (timer !== null) clearTimeout(timer)
      for (const viewer of viewers) viewer.close()
    },
  }
}
