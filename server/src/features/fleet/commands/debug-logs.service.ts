import { Readable } from 'node:stream'
import { agentLimits } from '@portcullis/contract'
import type { Audit } from '#features/system/audit/index.ts'
import { AppError, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { exportFileName, FileAnswer, WithHeaders } from '#platform/http/answer.ts'
import { isId, newId } from '#platform/ids.ts'
import type { Announce } from '#platform/live.ts'
import { createDebugLogsStore } from './debug-logs.store.ts'
import { createGzipCheck } from './gzip-check.ts'

/** Rows that a log is kept in. */
const chunkBytes = 1024 * 1024
/** Logs that come in at once: some megabytes of memory each, and a processor's share for unpacking. */
const atOnce = 8
/** An upload takes half a minute at most; what is incomplete after an hour has no sender any more. */
const abandonedMs = 3_600_000

export interface DebugLogsDeps {
  db: Db
  clock: Clock
  audit: Audit
  announce: Announce
  /** Whether a host was told to collect its logs by this command, and has not ended it. */
  isCollecting(agentId: string, commandId: string): Promise<boolean>
}

export const createDebugLogs = ({ db, clock, audit, announce, isCollecting }: DebugLogsDeps) => {
  const store = createDebugLogsStore(db)
  let coming = 0

  /** Stores the bytes as they come, by the chunk; returns how many. */
  async function keep(id: string, body: AsyncIterable<Buffer>): Promise<number> {
    const check = createGzipCheck()
    let size = 0
    let n = 0
    let held: Buffer[] = []
    let heldBytes = 0
    async function flush(): Promise<void> {
      if (heldBytes === 0) return
      await store.addChunk(id, n++, Buffer.concat(held))
      held = []
      heldBytes = 0
    }
    try {
      for await (const bytes of body) {
        size += bytes.length
        if (size > agentLimits.debugLogBytes)
          throw new AppError('payload_too_large', { limit: agentLimits.debugLogBytes })
        await check.write(bytes)
        held.push(bytes)
        heldBytes += bytes.length
        if (heldBytes >= chunkBytes) await flush()
      }
      await check.end()
      await flush()
      return size
    } finally {
      check.close()
    }
  }

  return {
    /** Takes the logs of a host that was asked for them; nothing in them names a path or is ever unpacked to be kept. */
    receive: async (agentId: string, commandId: string, body: AsyncIterable<Buffer>): Promise<void> => {
      if (!isId(commandId)) throw notFound('There is no such command.')
      if (await store.isReceived(commandId)) return
      if (!(await isCollecting(agentId, commandId)))
        throw notFound('This host was not told to collect its logs by this command, or has ended it.')
      if (coming >= atOnce) throw new AppError('unavailable', {}, { headers: { 'retry-after': '10' } })
      coming++
      const id = newId(clock.now())
      try {
        await store.begin({ id, agentId, commandId, now: new Date(clock.now()) })
        const size = await keep(id, body)
        await db.transaction(async (tx) => {
          await store.complete(tx, id, agentId, size)
          await announce(tx, { agents: [agentId] })
        })
      } catch (error) {
        await store.drop(id).catch(() => {})
        throw error
      } finally {
        coming--
      }
    },

    ofAgent: store.ofAgent,
    agents: store.agents,

    /** A log as it came, as an attachment. */
    download: async (actor: Actor, agentId: string, id: string): Promise<WithHeaders<FileAnswer>> => {
      const log = isId(agentId) && isId(id) ? await store.one(agentId, id) : undefined
      if (log === undefined) throw notFound('There is no such log of this agent.')
      await db.transaction((tx) =>
        audit.write(tx, actor, {
          action: 'debuglogs.downloaded',
          entity: log.host,
          details: `agent ${agentId}, log ${id}`,
        }),
      )
      const chunks = async function* () {
        for (let n = 0; ; n++) {
          const bytes = await store.chunk(id, n)
          if (bytes === undefined) return
          yield bytes
        }
      }
      const host = log.host.replace(/[^\w.-]/g, '_').slice(0, 64)
      const name = exportFileName(`debug-logs-${host}`, log.received_at.getTime(), 'gz')
      return new WithHeaders(new FileAnswer(name, 'application/gzip', Readable.from(chunks())), {
        'content-length': String(log.size),
      })
    },

    /** Drops uploads that never came to an end. */
    forgetIncomplete: (): Promise<number> => store.dropIncomplete(new Date(clock.now() - abandonedMs)),
  }
}
