import { Socket } from 'node:net'
import pg from 'pg'
import type { Log } from '../log.ts'
import type { Tracer } from '../tracing/index.ts'
import { askForWarnings, assertReplicated, watchReplication } from './commit.ts'
import { createLender } from './gradual-pool.ts'
import { LendingSocket } from './lending-socket.ts'
import { usualPatience } from './patience.ts'
import { compile, type SqlFragment } from './sql.ts'
import { createStandbyWait } from './standby-wait.ts'
import { createStatementNames } from './statement-names.ts'

/** A row of a result; stores narrow it by the type argument of `query`. */
export type Row = Record<string, unknown>

/** Runs statements, on a pool or in one transaction. */
export interface Queryable {
  query<R = Row>(statement: SqlFragment): Promise<R[]>
  /** Like `query`, but frequent statements are prepared under a name derived from their text (1.8 times faster). */
  prepared<R = Row>(statement: SqlFragment): Promise<R[]>
  /** Returns the number of changed rows. */
  execute(statement: SqlFragment): Promise<number>
}

/** A transaction. Stores built on it read and write only through it. */
export interface Tx extends Queryable {
  readonly isTransaction: true
  /** Runs `work`, which must not throw, after COMMIT and before the caller of `transaction` continues. */
  onCommit(work: () => void): void
}

/** A result of a transaction that rolls it back: of a preview, or of a change that must not happen. */
export class Rollback<T> {
  readonly result: T
  constructor(result: T) {
    this.result = result
  }
}

export interface PoolFigures {
  used: number
  idle: number
  /** Callers that wait for a connection. */
  waiting: number
  /** Maximum number of connections. */
  limit: number
}

export interface Db extends Queryable {
  /**
   * Runs `work` in one transaction. Commits if it resolves, rolls back if it throws or resolves to a `Rollback`. `work`
   * must wait for nothing else.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Lends a raw client, for COPY. Always returns it to the pool, or destroys it if `work` throws. */
  withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  /** Returns the use of its connections. */
  figures(): PoolFigures
  close(): Promise<void>
}

/** Parses int8 as numbers; our ids stay below 2^53. */
pg.types.setTypeParser(20, (text) => Number(text))

const nameOf = createStatementNames()

type Run = (config: pg.QueryConfig) => Promise<pg.QueryResult>

const traced = (run: Run, statement: Tracer['statement']): Run =>
  statement === null ? run : (config) => statement(config.text, () => run(config))

/** Duration from which a statement is logged, in milliseconds. */
const usualSlowMs = 1_000

/** Logs slow statements as text with placeholders, never with values. The time includes the wait for a connection. */
const timed =
  (run: Run, { log, pool, slowMs }: { log: Log; pool: string; slowMs: number }): Run =>
  async (config) => {
    const startedAt = performance.now()
    try {
      return await run(config)
    } finally {
      const ms = Math.round(performance.now() - startedAt)
      if (ms >= slowMs)
        log.info({ pool, ms, statement: config.text.replace(/\s+/g, ' ').trim().slice(0, 1_000) }, 'slow statement')
    }
  }

const queryable = (run: Run): Queryable => ({
  query: async <R>(statement: SqlFragment) => {
    const { text, values } = compile(statement)
    return (await run({ text, values: values as unknown[] })).rows as R[]
  },
  prepared: async <R>(statement: SqlFragment) => {
    const { text, values } = compile(statement)
    const name = nameOf(text)
    return (await run({ ...(name === undefined ? {} : { name }), text, values: values as unknown[] })).rows as R[]
  },
  execute: async (statement) => {
    const { text, values } = compile(statement)
    return (await run({ text, values: values as unknown[] })).rowCount ?? 0
  },
})

/** Returns whether a statement timed out, which makes its connection unusable. */
const isSilent = (error: unknown): boolean => (error as Error | null)?.message === 'Query read timeout'

export interface DbOptions {
  connection: pg.PoolConfig
  /** Connections of this pool. */
  max: number
  /** Name in pg_stat_activity. */
  name: string
  log: Log
  /** Timeout of a statement in milliseconds; 0: none (exports). */
  statementTimeoutMs: number
  /** Longest wait for a connection of the pool in milliseconds. */
  connectTimeoutMs?: number
  /** Duration from which a statement is logged, in milliseconds. */
  slowMs?: number
  /** Traces statements that are part of a trace. */
  tracer?: Pick<Tracer, 'statement'>
}

/** Returns the socket of a connection. Over TLS, the socket of TLS does the reading. */
const createStream = ({ ssl }: { ssl?: unknown }): Socket =>
  ssl === undefined || ssl === false ? new LendingSocket() : new Socket()

export const createDb = ({
  connection,
  max,
  name,
  log,
  statementTimeoutMs,
  connectTimeoutMs = usualPatience.connectMs,
  slowMs = usualSlowMs,
  tracer,
}: DbOptions): Db => {
  const statement = tracer?.statement ?? null
  const pool = new pg.Pool({
    ...connection,
    stream: createStream as never,
    max,
    application_name: `portcullis ${name}`,
    connectionTimeoutMillis: connectTimeoutMs,
    // The most recently used connection is lent first, so that the others become idle when the load falls.
    idleTimeoutMillis: 10_000,
    ...(statementTimeoutMs > 0
      ? { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + 500 }
      : {}),
    idle_in_transaction_session_timeout: 60_000,
    // The pool waits for the promise. Poolers refuse this setting as a parameter of the connection.
    onConnect: askForWarnings,
  })
  const lender = createLender(pool, max)
  const standbys = createStandbyWait({ connection, log })
  // Without a handler, an idle connection whose backend dies would end the process.
  pool.on('error', (error) => {
    // A database that stops right after the pool may close connections before the pool does.
    if (!pool.ending) log.warn({ pool: name, error: error.message }, 'database connection lost')
  })
  // A backend may end right after it accepted a connection, before the caller attaches a handler.
  pool.on('connect', (client) => {
    client.on('error', () => {})
    watchReplication(client)
  })

  function measured(run: Run): Run {
    const followed = traced(run, statement)
    // Long reads are meant to be slow, and have no timeout.
    return statementTimeoutMs > 0 ? timed(followed, { log, pool: name, slowMs }) : followed
  }

  /** Runs a statement on its own, which commits it. */
  async function single(config: pg.QueryConfig): Promise<pg.QueryResult> {
    standbys.assertConfirmed(config.text)
    const client = await lender.connect()
    try {
      const result = await client.query(config)
      assertReplicated(client)
      client.release()
      return result
    } catch (error) {
      if (isSilent(error)) standbys.suspect(client)
      client.release(true)
      throw error
    }
  }

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await lender.connect()
    function ignore() {}
    client.on('error', ignore)
    try {
      const result = await work(client)
      assertReplicated(client)
      client.removeListener('error', ignore)
      client.release()
      return result
    } catch (error) {
      client.removeListener('error', ignore)
      client.release(true)
      throw error
    }
  }

  return {
    ...queryable(measured(single)),
    withClient,
    async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      standbys.assertConfirmed()
      const client = await lender.connect()
      let broken = false
      function onError() {
        broken = true
      }
      client.on('error', onError)
      try {
        await client.query('BEGIN')
        const run = measured((config) => client.query(config))
        const committed: (() => void)[] = []
        const result = await work({
          ...queryable(run),
          isTransaction: true,
          onCommit: (then) => void committed.push(then),
        })
        const isUndone = result instanceof Rollback
        await run({ text: isUndone ? 'ROLLBACK' : 'COMMIT' })
        assertReplicated(client)
        if (!isUndone) for (const then of committed) then()
        return result
      } catch (error) {
        // On a silent connection a ROLLBACK would only time out too; closing it rolls back.
        if (isSilent(error)) {
          standbys.suspect(client)
          broken = true
        } else
          await client.query('ROLLBACK').catch(() => {
            broken = true
          })
        throw error
      } finally {
        client.removeListener('error', onError)
        client.release(broken)
      }
    },
    figures: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount + lender.waiting(),
      limit: max,
    }),
    close: () => {
      standbys.close()
      return pool.end()
    },
  }
}

interface PgError {
  code: string
  constraint?: string
}

/** Returns whether the database reported this SQLSTATE (and constraint). */
export const isPgError = (error: unknown, code: string, constraint?: string): boolean => {
  const e = error as Partial<PgError> | null
  return e?.code === code && (constraint === undefined || e.constraint === constraint)
}

/** Returns whether two transactions conflicted: a deadlock or a failed serialisation. A retry helps. */
export const isConflict = (error: unknown): boolean => isPgError(error, '40P01') || isPgError(error, '40001')

/** Attempts of a transaction that conflicts with others. */
const mostTries = 3

/**
 * Runs a transaction and repeats it at most twice after a conflict. For changes by people, who would otherwise get an
 * error and repeat them by hand. `work` must keep no state between runs.
 */
export const transactionAgain = async <T>(
  db: Pick<Db, 'transaction'>,
  work: (tx: Tx) => Promise<T>,
  tries = mostTries,
): Promise<T> => {
  try {
    return await db.transaction(work)
  } catch (error) {
    if (tries <= 1 || !isConflict(error)) throw error
    return transactionAgain(db, work, tries - 1)
  }
}

/** Returns whether the database is unavailable or busy, so that a retry may succeed. */
export const isUnavailable = (error: unknown): boolean => {
  const e = error as { code?: unknown; message?: unknown } | null
  const code = typeof e?.code === 'string' ? e.code : ''
  if (/^(08|53|57P|58|55P03|40001|40P01|57014|25006)/.test(code)) return true
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOENT|EAI_AGAIN)/.test(code)) return true
  return (
    typeof e?.message === 'string' &&
    /timeout exceeded|Connection terminated|Query read timeout|not queryable/.test(e.message)
  )
}
