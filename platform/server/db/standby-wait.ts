import type pg from 'pg'
import type { Log } from '../log.ts'
import { createClient } from './connection.ts'

/** Changes are refused while no standby confirms commits. Nothing was stored. */
export class NoStandbyError extends Error {
  override readonly name = 'NoStandbyError'
  /** SQLSTATE of a failed connection. */
  readonly code = '08006'

  constructor() {
    super('No standby of the database confirms changes, so they cannot be stored now.')
  }
}

const checkEveryMs = 500
const checkWithinMs = 2_000
/** Statements that may write to the log. Locks do as well. */
const changes = /\b(?:insert|update|delete|merge|pg_notify)\b/i

/**
 * Refuses changes while earlier commits wait for a standby. PostgreSQL neither ends such a wait after a timeout nor when
 * the client disconnects, so without a limit the waiting commits take all connections of the database.
 */
export const createStandbyWait = ({ connection, log }: { connection: pg.PoolConfig; log: Log }) => {
  const pids = new Set<number>()
  let isWaiting = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let isChecking = false

  async function waitingOf(asked: readonly number[]): Promise<number[]> {
    const client = createClient({
      ...connection,
      application_name: 'portcullis standby-wait',
      connectionTimeoutMillis: checkWithinMs,
      query_timeout: checkWithinMs,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ pid: number }>(
        "select a.pid from pg_stat_activity a where a.pid = any($1::int[]) and a.wait_event = 'SyncRep'",
        [asked],
      )
      return rows.map(({ pid }) => pid)
    } finally {
      client.end().catch(() => {})
    }
  }

  async function check(): Promise<void> {
    // An unreachable database refuses changes itself.
    const asked = [...pids]
    const left = await waitingOf(asked).catch((): number[] => [])
    for (const pid of asked) if (!left.includes(pid)) pids.delete(pid)
    if (left.length > 0 !== isWaiting) {
      isWaiting = left.length > 0
      if (isWaiting) log.error({}, 'no standby of the database confirms changes; they are refused until one does')
      else log.info({}, 'changes are accepted again')
    }
    // Others may have been noted in the meantime.
    if (pids.size > 0 && !isClosed) {
      timer = setTimeout(start, checkEveryMs)
      timer.unref()
    }
  }

  function start(): void {
    if (isChecking) return
    isChecking = true
    void check().finally(() => {
      isChecking = false
    })
  }

  return {
    /** Notes the connection of a change that timed out. */
    suspect: (client: pg.ClientBase): void => {
      const { processID } = client as pg.ClientBase & { processID: number | null }
      if (processID === null || isClosed) return
      pids.add(processID)
      start()
    },
    /** @throws NoStandbyError if commits wait for a standby, and the statement (or a whole transaction) may add one. */
    assertConfirmed: (statement?: string): void => {
      if (isWaiting && (statement === undefined || changes.test(statement))) throw new NoStandbyError()
    },
    close: (): void => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
