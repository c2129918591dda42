import { Readable } from 'node:stream'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { exportFileName, FileAnswer, WithHeaders } from '@portcullis/platform/server/http/answer.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { agentLimits } from '#features/contract.ts'
import { createCommandsStore } from './commands.store.ts'
import type { CommandsContext } from './context.ts'
import { createDebugLogsStore } from './debug-logs.store.ts'
import { createGzipCheck } from './gzip-check.ts'

/** Size of the rows that store a log. */
const chunkBytes = 1024 * 1024
/** Maximum number of concurrent uploads: each takes some megabytes of memory and CPU time for unpacking. */
const atOnce = 8
/** An upload takes half a minute at most, so an incomplete one after an hour was abandoned. */
const abandonedMs = 3_600_000

export const createDebugLogs = ({ db, clock, audit, announce }: CommandsContext) => {
  const { isCollecting } = createCommandsStore(db)
  const store = createDebugLogsStore(db)
  let coming = 0

  /** Stores the bytes in chunks as they arrive, and returns their number. */
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
    /**
     * Receives the logs that a command requested from a host. They are stored packed, and nothing in them is used as a
     * path.
     */
    receive: async (agentId: string, commandId: string, body: AsyncIterable<Buffer>): Promise<void> => {
      if (!isId(commandId)) throw notFound('This command does not exist.')
      if (await store.isReceived(commandId)) return
      if (!(await isCollecting(agentId, commandId)))
        throw notFound('This command did not ask the host to collect its logs, or it has already ended.')
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

    ofAgents: store.ofAgents,
    agents: store.agents,

    /** Returns a log as it was received, as an attachment. */
    download: async (actor: Actor, agentId: string, id: string): Promise<WithHeaders<FileAnswer>> => {
      const log = isId(agentId) && isId(id) ? await store.one(agentId, id) : undefined
      if (log === undefined) throw notFound('This agent has no such log.')
      await db.transaction((tx) =>
        audit.write(tx, actor, {
          action: 'debuglogs.downloaded',
          entity: log.host,
          details: `agent ${agentId}, log ${id}`,
          objects: [{ kind: 'host', id: agentId, name: log.host }],
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

    /** Deletes uploads that were never completed. */
    forgetIncomplete: (): Promise<number> => store.dropIncomplete(new Date(clock.now() - abandonedMs)),
  }
}
