import { countNotices } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { useLiveRefresh } from '../useLive.ts'

// A flood tells of itself every second; a count that changes faster cannot be read.
const refreshGap = 1_500

/** Everything that is read of notices stands under this key, so that one hint refreshes all of it. */
export const noticesKey = 'notices'

/** How many notices there are, and how many the reader has not seen, as the server counts them. */
export const useNoticeCounts = (isReady = true) => {
  const { api, session } = useServices()
  return useQuery({
    queryKey: [noticesKey, 'counts'],
    queryFn: ({ signal }) => api.call(countNotices, { signal }),
    enabled: isReady && session.may('notices:read'),
  })
}

/** The same for the frame, which is always there: what it hears refreshes whatever shows notices. */
export const useLiveNotices = (isReady: boolean) => {
  const { queries } = useServices()
  useLiveRefresh(['notices'], refreshGap, () => void queries.invalidateQueries({ queryKey: [noticesKey] }))
  return useNoticeCounts(isReady)
}
