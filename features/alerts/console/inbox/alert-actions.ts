import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { pinHealthNotice, pinRiskNotice, readHealthNotices, readRiskNotices } from '#features/contract.ts'
import type { InboxList, Line } from '../shared/line.ts'
import { alertsKey } from '../shared/useAlerts.ts'

/** Returns the actions of a list that only concern the own account. */
export const useAlertActions = (list: InboxList) => {
  const { api, queries } = useServices()
  const reread = () => queries.invalidateQueries({ queryKey: [alertsKey] })
  return {
    pin: ({ id, isPinned }: Pick<Line, 'id' | 'isPinned'>): void => {
      const asked =
        list === 'risk'
          ? api.call(pinRiskNotice, { body: { id, isPinned: !isPinned } })
          : api.call(pinHealthNotice, { body: id })
      void asked.then(reread, tellFailure)
    },
    readAll: (): void => {
      void api.call(list === 'risk' ? readRiskNotices : readHealthNotices).then(reread, tellFailure)
    },
  }
}
