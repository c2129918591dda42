import { runReportSchedule } from '@portcullis/contract'
import { useServices } from '../../lib/services.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import { strings } from './strings.ts'

/** Runs a schedule beside its times; the job tray shows how far it is. */
export const useRunNow = () => {
  const { api, work } = useServices()
  return async (id: string, name: string): Promise<void> => {
    try {
      const { jobId } = await api.call(runReportSchedule, { params: { id } })
      work.follow(jobId)
      tell(strings.nameIsBeingMadeItsFile({ name }))
    } catch (failure) {
      tellFailure(failure)
    }
  }
}
