import { cleanText, escapeText, parseReport } from '@portcullis/domain'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import type { Static } from 'typebox'
import {
  type ConnectionInput,
  type ConnectionTest,
  type Poll,
  type PollResult,
  type PollStep,
  type PollStepResult,
  pollCauses,
  type WorkerLeaseRequest,
} from '#features/contract.ts'
import type { AgentlessContext } from './context.ts'
import { createTestsStore } from './tests.store.ts'

const keptMs = 300_000
/** Maximum number of concurrent tests: each holds an SSH connection. */
const atOnce = 20
const shownDevices = 50
/** Associated data (AAD) of a sealed test. */
export const testAad = (id: string): string => `connection test ${id}`

/** Tests connections: a poll whose result a person reads and that stores nothing with the fleet. */
export const createTests = (
  { db, clock, envelope, audit }: AgentlessContext,
  /** Returns the details of a poll: the stored connection with the given values in place of its own. */
  details: (tx: Tx, actor: Actor, input: ConnectionInput) => Promise<Omit<Poll, 'id' | 'fence' | 'isTest'>>,
) => {
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
          serialNumber: escapeText(device.serial ?? ''),
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
          throw new AppError('conflict', {
            detail: `${atOnce} connection tests are already running. Wait until one of them ends.`,
          })
        const id = newId(clock.now())
        const poll = JSON.stringify(await details(tx, actor, input))
        await store.insert(tx, id, envelope.seal(new Secret(poll), testAad(id)), new Date(clock.now()), actor.userName)
        await audit.write(tx, actor, {
          action: 'connection.tested',
          entity: input.computerName,
          details: `port ${input.port || 'of the defaults'}, user ${input.userName || 'of the defaults'}`,
        })
        return view({ test_id: id, fence: 0, step: '', steps: [], result: null })
      }),

    /** Returns a test to the person who started it. */
    read: async (actor: Actor, id: string): Promise<ConnectionTest> => {
      const row = isId(id) ? await store.one(db, id, cutoff()) : undefined
      if (row === undefined || row.created_by !== actor.userName)
        throw notFound('This connection test does not exist. Tests are deleted after five minutes.')
      return view(row)
    },

    /** Returns true if a test waits, runs, or ended within the last five minutes. */
    any: (): Promise<boolean> => store.any(db, cutoff()),

    /** Leases waiting tests to a worker. */
    lease: async (tx: Tx, until: Date, pollerId: string, limit: number): Promise<Poll[]> =>
      (await store.lease(tx, new Date(clock.now()), until, cutoff(), pollerId, limit)).map((row) => ({
        ...(JSON.parse(envelope.open(row.poll, testAad(row.test_id)).reveal()) as Omit<
          Poll,
          'id' | 'fence' | 'isTest'
        >),
        id: row.test_id,
        fence: row.fence,
        isTest: true,
      })),

    keep: (tx: Tx, until: Date, pollerId: string, running: WorkerLeaseRequest['running']): Promise<string[]> =>
      running.length === 0 ? Promise.resolve([]) : store.keep(tx, until, pollerId, running),

    /** Stores the results of tests that this process has leased, and returns their ids. */
    finish: (tx: Tx, pollerId: string, results: readonly PollResult[]): Promise<string[]> =>
      store.finish(tx, pollerId, results),
  }
}

export type Tests = ReturnType<typeof createTests>
