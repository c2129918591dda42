import { listApiTokens, profiles } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices, useSession } from '../../lib/services.tsx'

/** Returns the number of API tokens of an account that work. Null: this user cannot list them. */
export const useTokenCount = (userName: string): { count: number | null; reread(): Promise<unknown> } => {
  const { api } = useServices()
  const state = useSession()
  const account = state.phase === 'in' ? state.profile.account : null
  const maySee = account !== null && (account.userProfile === profiles.administrator || account.userName === userName)
  const { data, refetch } = useQuery({
    queryKey: ['api-tokens'],
    queryFn: ({ signal }) => api.call(listApiTokens, { signal }),
    enabled: maySee && userName !== '',
  })
  const count = data?.filter((token) => token.userName === userName && token.state !== 'Expired').length ?? null
  return { count, reread: refetch }
}
