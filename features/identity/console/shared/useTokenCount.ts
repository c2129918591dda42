import { useSession } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { listApiTokens, profiles } from '#features/contract.ts'

/** Returns the number of API tokens of an account that work. Null: this user cannot list them. */
export const useTokenCount = (userName: string): { count: number | null; reread(): Promise<unknown> } => {
  const state = useSession()
  const account = state.phase === 'in' ? state.profile.account : null
  const maySee = account !== null && (account.userProfile === profiles.administrator || account.userName === userName)
  const { data, refetch } = useRead(['api-tokens'], listApiTokens, { enabled: maySee && userName !== '' })
  const count = data?.filter((token) => token.userName === userName && token.state !== 'Expired').length ?? null
  return { count, reread: refetch }
}
