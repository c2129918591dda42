import { AppError } from '@portcullis/platform/server/app-error.ts'
import { reportLimits } from '#features/contract.ts'
import type { ReportsContext } from './context.ts'
import type { Folders } from './folder.ts'
import { createReportsStore } from './reports.store.ts'

const dayMs = 86_400_000
/** Files of deleted schedules stay until they are too old. */
const mostFiles = 2_147_483_647

/** Deletes expired files and history. */
export const createUpkeep = ({ db, clock, log }: ReportsContext, folders: Folders) => {
  const store = createReportsStore(db)
  const before = (days: number): Date => new Date(clock.now() - days * dayMs)

  async function dropFiles(scheduleId: string | null, keep: number): Promise<void> {
    for (const { run_id } of await store.fileSurplus(scheduleId, keep, before(reportLimits.fileDays)))
      await db.transaction((tx) => store.dropFile(tx, run_id))
  }

  async function ofSchedule(scheduleId: string, keep: number): Promise<void> {
    for (const { run_id, folder, folder_file } of await store.folderSurplus(scheduleId, keep))
      try {
        await folders.remove(folder, folder_file)
        await store.folderFileGone(run_id)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        log.warn({ folder, file: folder_file, reason: error.message }, 'cannot delete an old report')
      }
    await dropFiles(scheduleId, keep)
  }

  return {
    ofSchedule,
    /** Deletes everything that expired; every hour, on any replica. */
    all: async (): Promise<void> => {
      for (const { schedule_id, definition } of await store.schedules())
        await ofSchedule(schedule_id, definition.keepFiles)
      await dropFiles(null, mostFiles)
      await store.forget(before(reportLimits.historyDays))
    },
  }
}
