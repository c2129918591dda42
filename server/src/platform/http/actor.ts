import type { UserProfile } from '@portcullis/contract'

/** Who acts: an account's session, one of its API tokens, or the product itself. */
export interface Actor {
  readonly kind: 'session' | 'apiToken' | 'system'
  readonly userName: string
  /** Id of the account; null for the system. */
  readonly accountId: string | null
  readonly profile: UserProfile
  /** Session or token the call came with. */
  readonly credentialId: string | null
  /** True until the password was changed: only the own profile is reachable. */
  readonly mustChangePassword: boolean
  /**
   * When the person behind this session last entered a password or second factor, in milliseconds since 1970. Null for
   * API tokens, for the system, and for sessions of which the server does not know it.
   */
  readonly authenticatedAt: number | null
  /** Address the call came from, behind trusted proxies only. */
  readonly ip: string
}

/** The product acting by itself: jobs, first run, command line. */
export const systemActor = (name: string): Actor => ({
  kind: 'system',
  userName: name,
  accountId: null,
  profile: 10,
  credentialId: null,
  mustChangePassword: false,
  authenticatedAt: null,
  ip: '',
})
