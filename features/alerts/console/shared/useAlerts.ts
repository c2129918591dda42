import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { countNotices } from '#features/contract.ts'

// During a flood, a hint arrives every second; a count that changes faster is unreadable.
const refreshGap = 1_500

/** First part of the key of every query about alerts, so that one hint refreshes all of them. */
export const alertsKey = 'alerts'

/** Returns the numbers of alerts and unread alerts, as counted by the server. */
export const useAlertCounts = (isReady = true) => {
  const { session } = useServices()
  return useRead([alertsKey, 'counts'], countNotices, { enabled: isReady && session.may('notices:read') })
}

/** Returns the counts for the frame, and refreshes every query about alerts when the server reports a change. */
export const useLiveAlerts = (isReady: boolean) => {
  const { queries } = useServices()
  useLiveRefresh(['notices'], refreshGap, () => void queries.invalidateQueries({ queryKey: [alertsKey] }))
  return useAlertCounts(isReady)
}
