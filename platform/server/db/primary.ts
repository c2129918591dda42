/** Connects to the primary of a cluster, and follows it to another server after a promotion. */
import pg from 'pg'
import { type DatabaseHost, hostLabel } from './hosts.ts'
import { isReachable, type Node, NoPrimaryError, primaryOf, probeNode } from './nodes.ts'

const watchEveryMs = 2_000
/** Time for other servers to answer after the primary did. The watch finds a promotion that this misses. */
const othersWithinMs = 300
/** Callers within this time share the outcome of a failed search. */
const failureHoldsMs = 250

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface Following {
  /** Returns the primary, and searches for it if it is unknown. */
  find(): Promise<DatabaseHost>
  /** Forgets a primary that does not answer as one. */
  suspect(host: DatabaseHost): void
  opened(client: Connected): void
  closed(client: Connected): void
}

/** A client that is connected to a server of the cluster. */
interface Connected {
  host: DatabaseHost
  /** Ends the connection at once; its statements fail. */
  cut(): void
}

/** Members of a client that its types do not declare. */
interface Inside {
  host: string
  port: number
  connectionParameters: { host: string; port: number }
  connection: NodeJS.EventEmitter & { stream: { destroyed: boolean; destroy(): void } }
}

interface ParameterStatus {
  parameterName: string
  parameterValue: string
}

/** Returns a class of clients that connect to the server that is the primary at that time. */
const clientClass = (following: Following): typeof pg.Client =>
  class PrimaryClient extends pg.Client {
    #isStandby = false
    #isEnding = false

    constructor(config?: string | pg.ClientConfig) {
      super(config)
      // The server may end the connection before the caller attaches a handler.
      this.on('error', () => {})
      // PostgreSQL reports the role with each connection and with each change, so no query is needed.
      this.#inside().connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
        if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on'
      })
    }

    #inside(): Inside {
      return this as unknown as Inside
    }

    async #connectToPrimary(): Promise<void> {
      const { connection, connectionParameters } = this.#inside()
      const host = await following.find()
      // The pool gave up in the meantime.
      if (connection.stream.destroyed) throw new Error('Connection terminated')
      for (const target of [this.#inside(), connectionParameters])
        Object.assign(target, { host: host.host, port: host.port })
      const connected: Connected = { host, cut: () => connection.stream.destroy() }
      following.opened(connected)
      this.once('end', () => {
        following.closed(connected)
        if (!this.#isEnding) following.suspect(host)
      })
      try {
        await super.connect()
      } catch (error) {
        following.closed(connected)
        following.suspect(host)
        throw error
      }
      if (!this.#isStandby) return
      following.suspect(host)
      this.end().catch(() => {})
      throw new NoPrimaryError(`${hostLabel(host)} is a standby now`)
    }

    override connect(): Promise<this>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error, client?: this) => void): Promise<this> | undefined {
      const connecting = this.#connectToPrimary().then(() => this)
      if (callback === undefined) return connecting
      connecting.then(() => callback(null as unknown as Error, this), callback)
      return undefined
    }

    override end(): Promise<void>
    override end(callback: (error: Error) => void): void
    override end(callback?: (error: Error) => void): Promise<void> | undefined {
      this.#isEnding = true
      if (callback === undefined) return super.end()
      super.end(callback)
      return undefined
    }
  } as typeof pg.Client

/** A cluster of several servers. */
export interface DatabaseCluster {
  connection: pg.PoolConfig
  /** Looks for a promotion every two seconds until it is stopped, and then cuts connections to the former primary. */
  watch(): { stop(): void }
}

/** Creates connections to the primary among `hosts`. */
export const createCluster = (hosts: readonly DatabaseHost[], log: Log): DatabaseCluster => {
  const clients = new Set<Connected>()
  let current: DatabaseHost | null = null
  let last: DatabaseHost | null = null
  let timeline = 0
  let searching: Promise<DatabaseHost> | null = null
  let failed: { error: unknown; at: number } | null = null

  function use(host: DatabaseHost, newTimeline: number): void {
    if (last !== null && last !== host)
      log.info({ host: hostLabel(host), timeline: newTimeline }, 'using another database server')
    current = host
    last = host
    timeline = newTimeline
    for (const client of clients) if (client.host !== host) client.cut()
  }

  /** Probes all servers. Waits only shortly for the others if the primary is still one. */
  async function probeAll(): Promise<Node[]> {
    const nodes: Node[] = hosts.map((host) => ({ host, reason: 'does not answer' }))
    const enough = Promise.withResolvers<void>()
    const probes = hosts.map(async (host, at) => {
      const node = await probeNode(host)
      nodes[at] = node
      const isPrimary = isReachable(node) && !node.isStandby && !node.isFenced && node.timeline === timeline
      if (host === last && isPrimary) setTimeout(enough.resolve, othersWithinMs).unref()
    })
    await Promise.race([Promise.all(probes), enough.promise])
    return nodes
  }

  async function search(): Promise<DatabaseHost> {
    try {
      const primary = primaryOf(await probeAll(), timeline)
      use(primary.host, primary.timeline)
      failed = null
      return primary.host
    } catch (error) {
      failed = { error, at: performance.now() }
      throw error
    } finally {
      searching = null
    }
  }

  async function find(): Promise<DatabaseHost> {
    if (current !== null) return current
    if (failed !== null && performance.now() - failed.at < failureHoldsMs) throw failed.error
    searching ??= search()
    return searching
  }

  const following: Following = {
    find,
    suspect: (host) => {
      if (current === host) current = null
    },
    opened: (client) => clients.add(client),
    closed: (client) => clients.delete(client),
  }

  /** Asks the other servers only: clients notice themselves when their server stops. */
  async function look(): Promise<void> {
    const known = current
    if (known === null) return
    const others = await Promise.all(hosts.filter((host) => host !== known).map(probeNode))
    const newest = Math.max(...others.map((node) => (isReachable(node) ? node.timeline : 0)))
    if (newest <= timeline || current !== known) return
    log.warn({ host: hostLabel(known), timeline: newest }, 'another database server was promoted')
    current = null
    // Nothing of the former primary may be read from now on, even if the new one is not ready yet.
    for (const client of clients) if (client.host === known) client.cut()
    await find().catch(() => {})
  }

  return {
    connection: { connectionString: (hosts[0] as DatabaseHost).url, Client: clientClass(following) as never },
    watch: () => {
      let isStopped = false
      let timer: NodeJS.Timeout | undefined
      function wait(): void {
        if (isStopped) return
        timer = setTimeout(() => void look().finally(wait), watchEveryMs)
        timer.unref()
      }
      wait()
      return {
        stop: () => {
          isStopped = true
          clearTimeout(timer)
        },
      }
    },
  }
}
