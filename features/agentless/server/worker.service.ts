import { createHash, timingSafeEqual } from 'node:crypto'
import { cleanText } from '@portcullis/domain'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { type Queryable, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { createOpaqueTokens } from '@portcullis/platform/server/opaque-tokens.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import {
  type BodyOf,
  type HealthStatus,
  pollInterval,
  type ResponseOf,
  type updateWorkerDefaults,
  type WorkerPollerDetails,
  type WorkerRegisterRequest,
  type WorkerRegisterResponse,
} from '#features/contract.ts'
import { assertConnection, secretsOf } from './connection.rules.ts'
import { createConnectionsStore, type DefaultsRow } from './connections.store.ts'
import type { AgentlessContext } from './context.ts'
import { createPollsStore } from './polls.store.ts'
import { sealed } from './secrets.ts'
import { createWorkerStore } from './worker.store.ts'

/** Silence after which a process counts as dead: longer than a lease, so others have its polls. */
const aliveMs = 30_000
/** Silence after which a process is no longer shown. */
const shownMs = 3_600_000
/** Lifetime of a key without contact, so that a process reconnects after an outage of a night or a holiday. */
const keptMs = 30 * 24 * 3_600_000
const tokenMs = 3_600_000

/** Associated data (AAD) of the sealed default credentials. */
export const defaultsAad = 'connection defaults'

/** Defaults of the product, before a person sets others. */
const productDefaults: DefaultsRow = {
  port: 22,
  platform: 'auto',
  user_name: '',
  password: null,
  private_key: null,
  passphrase: null,
  interval_minutes: pollInterval.default,
}

/** Compares texts in constant time. */
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())

interface ActivateChange {
  id: string
  pollers: { id: string; name: string; address: string }[]
}

export interface Poller {
  pollerId: string
}

/** Manages the agentless worker: its processes, their keys, its activation, and the defaults of connections. */
export const createWorker = (
  context: AgentlessContext,
  /** Token of the process that the server itself runs; null: it runs none. */
  ownToken: Secret | null,
) => {
  const { db, clock, envelope, audit, changeRequests } = context
  const tokens = createOpaqueTokens(context.keys.derive('worker-tokens').reveal())
  const store = createWorkerStore()
  const connections = createConnectionsStore()
  const polls = createPollsStore()
  const now = (): Date => new Date(clock.now())
  const defaults = async (q: Queryable = db): Promise<DefaultsRow> => (await connections.defaults(q)) ?? productDefaults

  async function activateIn(tx: Tx, actor: Actor, { id, pollers }: ActivateChange): Promise<void> {
    if (!(await store.setStatus(tx, id, 'Activated'))) throw notFound('This worker does not exist.')
    await store.activatePollers(
      tx,
      pollers.map((one) => one.id),
    )
    await audit.write(tx, actor, {
      action: 'worker.activated',
      entity: 'worker',
      details: pollers.map(({ name, address }) => `${name} (${address})`).join(', '),
      severity: 4,
    })
  }

  changeRequests.handle<ActivateChange>('activate-worker', {
    action: 'settings',
    title: ({ pollers }) =>
      `Give the credentials of polled hosts to the worker processes ${pollers.map(({ name, address }) => `${name} (${address})`).join(', ')}`,
    details: (_tx, { id, pollers }) => [
      `Worker ${id}`,
      ...pollers.map((one) => `Process ${one.name} (${one.address}), id ${one.id}`),
    ],
    carryOut: async (tx, actor, change) => {
      await activateIn(tx, actor, change)
      return undefined
    },
  })

  async function details(): Promise<WorkerPollerDetails> {
    const [worker, pollers, d, errorCount, due] = await Promise.all([
      store.worker(db),
      store.pollers(db, new Date(clock.now() - shownMs)),
      defaults(),
      polls.failingCount(db),
      polls.dueCount(db, now()),
    ])
    const isAlive = (seen: Date): boolean => clock.now() - seen.getTime() <= aliveMs
    const alive = pollers.filter((one) => isAlive(one.last_seen))
    const sum = (of: (one: (typeof pollers)[number]) => number): number => alive.reduce((n, one) => n + of(one), 0)
    const capacity = sum((one) => one.capacity)
    const newest = pollers[0]
    return {
      id: worker?.worker_id ?? null,
      name: newest?.name ?? null,
      ipAddress: newest?.address ?? null,
      version: newest?.version ?? null,
      status: worker === undefined ? null : alive.length > 0 ? 'Connected' : 'Disconnected',
      adminStatus: worker?.admin_status ?? null,
      numOfPollers: worker === undefined ? null : pollers.length,
      numOfPollersAlive: worker === undefined ? null : alive.length,
      cpu: worker === undefined ? null : Math.round(sum((one) => one.cpu) * 10) / 10,
      utilization:
        worker === undefined
          ? null
          : capacity === 0
            ? 0
            : Math.round((sum((one) => one.running) / capacity) * 1000) / 10,
      errorCount: worker === undefined ? null : errorCount,
      lastSeen: newest?.last_seen.toISOString() ?? null,
      defaults: {
        port: d.port,
        platform: d.platform as WorkerPollerDetails['defaults']['platform'],
        userName: d.user_name,
        hasPassword: d.password !== null,
        hasPrivateKey: d.private_key !== null,
        hasPassphrase: d.passphrase !== null,
        intervalMinutes: d.interval_minutes,
      },
      pollers: pollers.map((one) => ({
        id: one.poller_id,
        name: one.name,
        ipAddress: one.address,
        version: one.version,
        isAlive: isAlive(one.last_seen),
        running: one.running,
        capacity: one.capacity,
        cpu: Math.round(one.cpu * 10) / 10,
        lastSeen: one.last_seen.toISOString(),
        isActivated: one.is_activated,
      })),
      due,
    }
  }

  return {
    details,
    defaults,
    mayPoll: store.mayPoll,

    /** Returns the state of polling, for the health page. */
    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      // A longer delay means that the worker is overloaded.
      const lateMinutes = context.settings.threshold('WORKER_LATE_MINUTES')
      const [{ registered, late }, { id, adminStatus, status, errorCount }] = await Promise.all([
        polls.waiting(db, new Date(clock.now() - lateMinutes * 60_000)),
        details(),
      ])
      if (registered === 0)
        return id === null
          ? { status: 'Unknown', description: 'Not configured' }
          : { status: 'OK', description: 'No computer is polled.' }
      const hosts = `${registered} agentless ${registered === 1 ? 'host' : 'hosts'}`
      if (adminStatus !== 'Activated')
        return { status: 'Warning', description: `The worker is not activated. Not polled: ${hosts}.` }
      if (status !== 'Connected')
        return {
          status: 'Error',
          description: `No worker process has connected for 30 s. Not polled: ${hosts}.`,
        }
      if (late > 0)
        return {
          status: 'Warning',
          description: `${late} of ${hosts} should have been polled ${lateMinutes} ${lateMinutes === 1 ? 'minute' : 'minutes'} ago. Add a worker.`,
        }
      return { status: 'OK', description: `${hosts} polled, ${errorCount ?? 0} of them failing.` }
    },

    saveDefaults: async (actor: Actor, body: BodyOf<typeof updateWorkerDefaults>): Promise<WorkerPollerDetails> => {
      const given = body.defaults
      assertConnection({ ...given, computerName: 'defaults' }, 'body.defaults')
      await db.transaction(async (tx) => {
        const before = await defaults(tx)
        await connections.writeDefaults(tx, {
          port: given.port ?? before.port,
          platform: given.platform ?? before.platform,
          user_name: given.userName ?? before.user_name,
          ...sealed(envelope, defaultsAad, secretsOf(given), before),
          interval_minutes: given.intervalMinutes ?? before.interval_minutes,
        })
        await audit.write(tx, actor, {
          action: 'connection.defaultsChanged',
          entity: 'worker',
          details: Object.entries(given)
            .filter(([, value]) => value !== null && value !== undefined)
            .map(([key]) => key)
            .join(', '),
          severity: 4,
        })
      })
      return details()
    },

    /**
     * Lets the worker and its currently registered processes poll. Processes that register later need another
     * activation.
     */
    activate: async (actor: Actor, id: string, isActivated: boolean): Promise<WorkerPollerDetails> => {
      if (!isActivated) {
        await transactionAgain(db, async (tx) => {
          if (!(await store.setStatus(tx, id, 'Deactivated'))) throw notFound('This worker does not exist.')
          await polls.endLeases(tx)
          await audit.write(tx, actor, { action: 'worker.deactivated', entity: 'worker', details: id, severity: 4 })
        })
        return details()
      }
      assertFresh(actor, clock.now())
      const worker = await store.worker(db)
      if (worker?.worker_id !== id) throw notFound('This worker does not exist.')
      const pollers = await store.pollers(db, new Date(clock.now() - shownMs))
      const change = {
        id,
        pollers: pollers.map((one) => ({ id: one.poller_id, name: one.name, address: one.address })),
      }
      await changeRequests.assertAlone<ActivateChange>(actor, { kind: 'program' }, () => ({
        kind: 'activate-worker',
        change,
        detail:
          'Activating worker processes gives them the credentials of polled hosts, so it needs a second approver. Ask another Administrator to approve request {id}.',
      }))
      await transactionAgain(db, (tx) => activateIn(tx, actor, change))
      return details()
    },

    remove: (actor: Actor): Promise<{ deleted: boolean }> =>
      transactionAgain(db, async (tx) => {
        const deleted = await store.remove(tx)
        if (deleted) {
          await polls.endLeases(tx)
          await audit.write(tx, actor, { action: 'worker.deleted', entity: 'worker', severity: 4 })
        }
        return { deleted }
      }),

    createToken: (actor: Actor): Promise<ResponseOf<typeof import('#features/contract.ts').createWorkerToken>> =>
      db.transaction(async (tx) => {
        const { text, hash } = tokens.make('pwt')
        const expiresAt = new Date(clock.now() + tokenMs)
        await store.insertToken(tx, hash, actor.userName, expiresAt)
        await audit.write(tx, actor, { action: 'worker.tokenCreated', entity: 'worker', severity: 4 })
        return {
          token: text,
          expiresAt: expiresAt.toISOString(),
          command: `npm run worker -- --server ${context.reach().url} --token ${text}`,
        }
      }),

    /** Registers a process as a poller of the worker. The first process creates a pending worker. */
    register: async (request: WorkerRegisterRequest, ip: string): Promise<WorkerRegisterResponse> => {
      const isOwn = ownToken !== null && isSame(request.token, ownToken.reveal())
      const hash = isOwn ? null : tokens.hashOf('pwt', request.token)
      if (!isOwn && hash === null) throw new AppError('enrolment_refused', { detail: 'The worker token is unknown.' })
      const key = tokens.make('pwk')
      const pollerId = newId(clock.now())
      await db.transaction(async (tx) => {
        if (hash !== null && !(await store.useToken(tx, hash, now())))
          throw new AppError('enrolment_refused', { detail: 'The worker token is used up or expired.' })
        const worker = await store.ensureWorker(tx, newId(clock.now()), now())
        await store.insertPoller(tx, {
          id: pollerId,
          workerId: worker.worker_id,
          keyHash: key.hash,
          name: cleanText(request.name) || 'worker',
          address: ip,
          version: cleanText(request.version, 64),
          now: now(),
          isActivated: isOwn,
        })
        await audit.write(
          tx,
          { ...systemActor('worker'), ip },
          {
            action: 'worker.registered',
            entity: cleanText(request.name) || 'worker',
            details: `poller ${pollerId}`,
          },
        )
      })
      return { pollerId, key: key.text }
    },

    /** Returns the process that has a key and stores its state; null: the key was revoked or never issued. */
    poller: async (
      key: string,
      ip: string,
      reported: { capacity: number; running: number; cpu: number; version: string } | null,
    ): Promise<Poller | null> => {
      const hash = tokens.hashOf('pwk', key)
      if (hash === null) return null
      const row = await store.seen(
        db,
        hash,
        now(),
        reported === null ? null : { ...reported, version: cleanText(reported.version, 64), address: ip },
      )
      return row === undefined ? null : { pollerId: row.poller_id }
    },

    maintain: async (): Promise<void> => {
      await store.forgetPollers(db, new Date(clock.now() - keptMs))
      await store.forgetTokens(db, now())
    },
  }
}

export type Worker = ReturnType<typeof createWorker>
