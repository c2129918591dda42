import type { UserProfile } from '#features/contract.ts'

/** A person confirmed by a directory or provider. */
export interface ExternalPerson {
  source: 'LDAP' | 'OIDC'
  /** Issuer of the provider. Null for the directory. */
  issuer: string | null
  /** Id that does not change when the person is renamed. Null if the directory has none. */
  id: string | null
  userName: string
  profile: UserProfile
  firstName: string
  lastName: string
  email: string
  phone: string | null
  /** When the person authenticated at the provider, in milliseconds. A directory checks the password each time. */
  authenticatedAt?: number | null
}

/** Answer of a directory: a person who may sign in, or none. `lost` is set if it definitely refuses that name. */
export type ExternalVerdict =
  | { person: ExternalPerson }
  | { person: null; lost: { userName: string; why: string; isProven: boolean } | null }

/** Maximum time between two confirmations of an open session by the directory. */
export const confirmedForMs = 15 * 60_000
