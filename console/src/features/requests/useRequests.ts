import { listChangeRequests } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices, useSession } from '../../lib/services.tsx'

// A request waits for hours; this is soon enough to see it without asking the server for nothing.
const gap = 20_000

/** The requests for a second approver, and which of them wait for the reader. */
export const useRequests = () => {
  const { api, session } = useServices()
  const state = useSession()
  const me = state.phase === 'in' ? state.profile.account.userName : ''
  const requests = useQuery({
    queryKey: ['change-requests'],
    queryFn: ({ signal }) => api.call(listChangeRequests, { signal }),
    refetchInterval: gap,
  })
  const canDecide = session.may('fleet:write')
  return {
    me,
    canDecide,
    requests,
    forMe: canDecide
      ? (requests.data?.data ?? []).filter(
          (one) => one.state === 'Waiting' && one.requestedBy !== me && one.refusal === '',
        )
      : [],
  }
}
