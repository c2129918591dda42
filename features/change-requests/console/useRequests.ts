import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { listChangeRequests } from '#features/contract.ts'

// Requests wait for hours, so this interval is short enough.
const gap = 20_000

/** Reads the change requests, and which of them await the approval of the user. */
export const useRequests = () => {
  const { session } = useServices()
  const state = useSession()
  const me = state.phase === 'in' ? state.profile.account.userName : ''
  const requests = useRead(['change-requests'], listChangeRequests, { refetchInterval: gap })
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
