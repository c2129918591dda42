import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { runReportSchedule } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Runs a schedule now; the job tray shows its progress. */
export const useRunNow = () => {
  const { api, work } = useServices()
  return async (id: string, name: string): Promise<void> => {
    try {
      const { jobId } = await api.call(runReportSchedule, { params: { id } })
      work.follow(jobId)
      tell(strings.runStarted({ name }))
    } catch (failure) {
      tellFailure(failure)
    }
  }
}
