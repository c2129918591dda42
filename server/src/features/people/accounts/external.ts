import type { UserProfile } from '@portcullis/contract'

/** Somebody whom a directory or provider vouches for. */
export interface ExternalPerson {
  source: 'LDAP' | 'OIDC'
  /** Issuer of the provider; null for the directory. */
  issuer: string | null
  /** What stays when he is renamed; null when the directory has nothing like it. */
  id: string | null
  userName: string
  profile: UserProfile
  firstName: string
  lastName: string
  email: string
  phone: string | null
  /** When the person last authenticated at the provider, as it reports, in milliseconds. A directory asks each time. */
  authenticatedAt?: number | null
}

/** What a directory says: a person who may sign in, or none; `lost` when it knows for sure that a name may not. */
export type ExternalVerdict =
  | { person: ExternalPerson }
  | { person: null; lost: { userName: string; why: string; isProven: boolean } | null }

/** The directory is asked about an open session no later than this after it last confirmed the account. */
export const confirmedForMs = 15 * 60_000
