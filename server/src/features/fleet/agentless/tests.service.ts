import {
  type ConnectionInput,
  type ConnectionTest,
  type Poll,
  type PollResult,
  type PollStep,
  type PollStepResult,
  pollCauses,
  type WorkerLeaseRequest,
} from '@portcullis/contract'
import { cleanText, parseReport } from '@portcullis/domain'
import type { Static } from 'typebox'
import type { Audit } from '#features/system/audit/index.ts'
import { AppError, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Envelope } from '#platform/envelope.ts'
import type { Actor } from '#platform/http/actor.ts'
import { isId, newId } from '#platform/ids.ts'
import { Secret } from '#platform/secret.ts'
import { createTestsStore } from './tests.store.ts'

export interface TestsDeps {
  db: Db
  clock: Clock
  envelope: Envelope
  audit: Audit
  /** All that a poll needs, of the stored connection with what is given in place of it. */
  details(tx: Tx, actor: Actor, input: ConnectionInput): Promise<Omit<Poll, 'id' | 'fence' | 'isTest'>>
}

const keptMs = 300_000
/** Tests that wait or run at a time: each holds an SSH connection. */
const atOnce = 20
const shownDevices = 50
/** What a test is bound to. */
export const testPlace = (id: string): string => `connection test ${id}`

/** Trying a connection: a poll whose result a person reads, and that stores nothing with the fleet. */
export const createTests = ({ db, clock, envelope, audit, details }: TestsDeps) => {
  const store = createTestsStore()
  const cutoff = (): Date => new Date(clock.now() - keptMs)

  function view(row: {
    test_id: string
    fence: number
    step: string
    steps: unknown
    result: unknown
  }): ConnectionTest {
    const result = row.result as Static<typeof PollResult> | null
    const cause = result?.failure ?? null
    return {
      id: row.test_id,
      state: result !== null ? 'done' : row.fence > 0 ? 'running' : 'waiting',
      ok: result === null ? null : cause === null,
      cause,
      message:
        cause === null
          ? ''
          : `${pollCauses[cause].title}${result?.message === '' ? '' : `: ${cleanText(result?.message ?? '', 500)}`}`,
      cure: cause === null ? '' : pollCauses[cause].cure,
      step: result === null && row.step !== '' ? (row.step as PollStep) : null,
      steps: (result?.steps ?? (row.steps as Static<typeof PollStepResult>[])).map((one) => ({
        ...one,
        message: cleanText(one.message, 500),
      })),
      hostKeyFingerprint: result?.hostKeyFingerprint ?? null,
      platform: result?.platform ?? null,
      hostname: cleanText(result?.facts?.hostname ?? ''),
      devices: (result?.devices ?? []).slice(0, shownDevices).map((device) => {
        const { vid, pid } = parseReport(device)
        return {
          vid,
          pid,
          name: cleanText(`${device.manufacturer ?? ''} ${device.product ?? ''}`),
          serialNumber: cleanText(device.serial ?? ''),
        }
      }),
      peripheralsCount: result?.devices.length ?? 0,
    }
  }

  return {
    start: (actor: Actor, input: ConnectionInput): Promise<ConnectionTest> =>
      db.transaction(async (tx) => {
        await store.forget(tx, cutoff())
        await store.lock(tx)
        if ((await store.open(tx)) >= atOnce)
          throw new AppError('conflict', { detail: `${atOnce} tests are under way; wait for one of them.` })
        const id = newId(clock.now())
        const poll = JSON.stringify(await details(tx, actor, input))
        await store.insert(
          tx,
          id,
          envelope.seal(new Secret(poll), testPlace(id)),
          new Date(clock.now()),
          actor.userName,
        )
        await audit.write(tx, actor, {
          action: 'connection.tested',
          entity: input.computerName,
          details: `port ${input.port || 'of the defaults'}, user ${input.userName || 'of the defaults'}`,
        })
        return view({ test_id: id, fence: 0, step: '', steps: [], result: null })
      }),

    /** For whoever started it. */
    read: async (actor: Actor, id: string): Promise<ConnectionTest> => {
      const row = isId(id) ? await store.one(db, id, cutoff()) : undefined
      if (row === undefined || row.created_by !== actor.userName)
        throw notFound('There is no such test; tests are kept for five minutes.')
      return view(row)
    },

    /** Tests that wait, for a worker. */
    lease: async (tx: Tx, until: Date, limit: number): Promise<Poll[]> =>
      (await store.lease(tx, new Date(clock.now()), until, cutoff(), limit)).map((row) => ({
        ...(JSON.parse(envelope.open(row.poll, testPlace(row.test_id)).reveal()) as Omit<
          Poll,
          'id' | 'fence' | 'isTest'
        >),
        id: row.test_id,
        fence: row.fence,
        isTest: true,
      })),

    keep: (tx: Tx, until: Date, running: WorkerLeaseRequest['running']): Promise<string[]> =>
      running.length === 0 ? Promise.resolve([]) : store.keep(tx, until, running),

    /** Stores results of tests; their ids. */
    finish: (tx: Tx, results: readonly PollResult[]): Promise<string[]> => store.finish(tx, results),
  }
}

export type Tests = ReturnType<typeof createTests>
