import { join } from 'node:path'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import type { BackupStatus } from '#features/contract.ts'
import type { OperationsContext } from '../context.ts'
import { assertFolder, assertUsable, freeBytesOf } from './backup-folder.ts'
import { createBackupRunsStore } from './backup-runs.store.ts'
import { type BackupSchedule, nextBackup } from './backup-times.ts'

/** Kind of the jobs that write backups. */
export const backupJob = 'backup'
/** Delay after which a due backup that no server started is a problem. */
const overdueMs = 15 * 60_000

/** The settings of scheduled backups. */
export interface BackupValues {
  isEnabled: boolean
  folder: string
  /** The default folder, which the server creates. */
  ownFolder: string
  schedule: BackupSchedule
  keep: number
  passphrase: Secret | null
  verify: 'restore' | 'read'
}

/** Earlier releases stored white space at the ends, which people do not copy. One of white space only stays. */
const trimmed = (passphrase: Secret | null): Secret | null => {
  const text = passphrase?.reveal().trim() ?? ''
  return text === '' ? passphrase : new Secret(text)
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 1e9 ? 2 : 1)} GB`

/** Orders backups on schedule and on request, and reports their state. */
export const createBackupSchedule = ({ db, clock, audit, jobs, settings, hint, config }: OperationsContext) => {
  const store = createBackupRunsStore(db)
  const startedAt = clock.now()
  const ownFolder = join(config.dataDir, 'backups')

  async function values(): Promise<BackupValues> {
    const group = await settings.values(db, 'backup')
    return {
      isEnabled: group.flag('BACKUP_ENABLED'),
      folder: group.text('BACKUP_FOLDER') || ownFolder,
      ownFolder,
      schedule: {
        interval: group.text('BACKUP_INTERVAL') as BackupSchedule['interval'],
        time: group.text('BACKUP_TIME'),
        timeZone: group.text('BACKUP_TIME_ZONE'),
      },
      keep: group.number('BACKUP_KEEP'),
      passphrase: trimmed(group.secret('BACKUP_PASSPHRASE')),
      verify: group.text('BACKUP_VERIFY') as BackupValues['verify'],
    }
  }

  const folderOptions = { own: ownFolder, dataDir: config.dataDir }
  /** Returns why this server cannot use the folder. Empty if it can. */
  const problemOf = (folder: string, check = assertUsable): Promise<string> =>
    check(folder, folderOptions).then(
      () => '',
      (error: Error) => error.message,
    )

  async function order(tx: Tx, createdBy: string, reason: 'schedule' | 'manual') {
    const now = new Date(clock.now())
    const runId = newId(now.getTime())
    const jobId = await jobs.enqueue(
      tx,
      { userName: createdBy },
      { kind: backupJob, title: 'Backup', total: 3, data: { runId }, canCancel: true },
    )
    await store.insert(tx, { id: runId, reason, createdBy, createdAt: now, jobId })
    await hint(tx, 'backups')
    return { runId, jobId }
  }

  settings.addValidator('backup', async (_actor, next) => {
    if (next.get('BACKUP_ENABLED') !== 'true') return
    const problem = await problemOf(next.get('BACKUP_FOLDER') || ownFolder, assertFolder)
    if (problem !== '') throw invalid('body.BACKUP_FOLDER', problem)
  })

  return {
    values,

    /** Orders a due backup. The lock on the plan lets only one server do this. */
    orderDue: async (): Promise<void> => {
      const { isEnabled, schedule } = await values()
      const key = isEnabled ? Object.values(schedule).join(' ') : ''
      const now = clock.now()
      const seen = await store.plan()
      if (seen.schedule === key && (seen.next_at === null ? !isEnabled : seen.next_at.getTime() > now)) return
      await db.transaction(async (tx) => {
        const plan = await store.lockPlan(tx)
        if (plan === null) return
        const isDue = isEnabled && plan.schedule === key && plan.next_at !== null && plan.next_at.getTime() <= now
        if (plan.schedule === key && plan.next_at !== null && !isDue) return
        const underWay = isDue ? await store.underWay(tx) : null
        // Stays due, and starts as soon as the manual backup ends.
        if (underWay === 'manual') return
        await store.setPlan(tx, key, isEnabled ? new Date(nextBackup(schedule, now)) : null)
        if (isDue && underWay === null) await order(tx, 'system', 'schedule')
      })
    },

    /** Orders a backup now. */
    run: async (actor: Actor): Promise<{ runId: string; jobId: string }> => {
      const { isEnabled, folder, passphrase } = await values()
      await assertFolder(folder, folderOptions)
      return db.transaction(async (tx) => {
        // The lock orders simultaneous requests.
        const plan = await store.lockPlan(tx)
        if (plan === null || (await store.underWay(tx)) !== null)
          throw new AppError('conflict', { detail: 'A backup is already running. Wait until it ends.' })
        // Otherwise repeated manual backups could keep it waiting.
        if (isEnabled && plan.next_at !== null && plan.next_at.getTime() <= clock.now())
          throw new AppError('conflict', { detail: 'A scheduled backup is about to start. Wait until it ends.' })
        const ordered = await order(tx, actor.userName, 'manual')
        await audit.write(tx, actor, {
          action: 'backup.ordered',
          entity: 'database',
          details: `run ${ordered.runId}; ${passphrase === null ? 'not encrypted' : 'encrypted'}`,
        })
        return ordered
      })
    },

    status: async (): Promise<BackupStatus> => {
      const { isEnabled, folder, schedule } = await values()
      const [plan, runs, problem] = await Promise.all([store.plan(), store.shown(), problemOf(folder)])
      // Just enabled: the next tick stores the plan.
      const next = plan.next_at ?? new Date(nextBackup(schedule, clock.now()))
      return {
        isEnabled,
        folder,
        freeBytes: await freeBytesOf(folder),
        problem,
        nextRunAt: isEnabled ? next.toISOString() : null,
        runs,
      }
    },

    /** Returns the state of the scheduled backups; null: disabled. */
    health: async (): Promise<{ status: 'OK' | 'Warning' | 'Error'; description: string } | null> => {
      const { isEnabled, folder } = await values()
      if (!isEnabled) return null
      const [plan, last, problem, free] = await Promise.all([
        store.plan(),
        store.lastEnded(),
        problemOf(folder),
        freeBytesOf(folder),
      ])
      if (problem !== '') return { status: 'Error', description: problem }
      if (last?.state === 'failed')
        return { status: 'Error', description: `The last backup failed: ${last.error}`.slice(0, 500) }
      // After a restore or a stop, a backup may be long overdue, and starts at once.
      if (plan.next_at !== null && clock.now() - Math.max(plan.next_at.getTime(), startedAt) > overdueMs)
        return {
          status: 'Error',
          description: `A backup was due ${plan.next_at.toISOString()}, but no server started it. Check the server log.`,
        }
      if (free !== null && last !== undefined && free < last.bytes * 1.2)
        return {
          status: 'Warning',
          description: `The backup folder has ${gigabytes(free)} free, and the last backup has ${gigabytes(last.bytes)}. Free some space, or keep fewer backups.`,
        }
      if (last !== undefined && last.note !== '') return { status: 'Warning', description: last.note }
      return {
        status: 'OK',
        description: plan.next_at === null ? '' : `The next backup is due ${plan.next_at.toISOString().slice(0, 16)}Z.`,
      }
    },
  }
}
