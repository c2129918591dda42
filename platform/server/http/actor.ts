import {
  type Permission,
  permissionsOf,
  permissionTable,
  profileNames,
  profiles,
  type UserProfile,
} from '../../contract/permissions.ts'
import { AppError } from '../app-error.ts'

/** The caller: an account's session, one of its API tokens, or the product itself. */
export interface Actor {
  readonly kind: 'session' | 'apiToken' | 'system'
  readonly userName: string
  /** Id of the account; null for the system. */
  readonly accountId: string | null
  readonly profile: UserProfile
  /** Permissions of this credential: those of the profile, and for an API token only those in its scopes. */
  readonly permissions: ReadonlySet<Permission>
  /** Id of the session or token. */
  readonly credentialId: string | null
  /** Whether the password must be changed first: only the caller's own profile is reachable. */
  readonly mustChangePassword: boolean
  /** Time in milliseconds since which this session is limited to setting up a second factor; null: not limited. */
  readonly secondFactorDueAt: number | null
  /**
   * When the person behind this session last entered a password or second factor, in milliseconds since 1970. Null for
   * API tokens, for the system, and for sessions without this information.
   */
  readonly authenticatedAt: number | null
  /** Address of the caller; forwarded addresses count only from trusted proxies. */
  readonly ip: string
  /** Id of the request in the log and in its trace. Absent outside a request. */
  readonly requestId?: string
}

const permissionSets: Readonly<Record<UserProfile, ReadonlySet<Permission>>> = {
  10: new Set(permissionsOf(profiles.administrator)),
  20: new Set(permissionsOf(profiles.manager)),
  30: new Set(permissionsOf(profiles.user)),
}

/** Returns the permissions of a profile. */
export const permissionSetOf = (profile: UserProfile): ReadonlySet<Permission> => permissionSets[profile]

/** Throws `forbidden` if the profile is too low. */
export const assertProfile = (actor: Pick<Actor, 'profile'>, permission: Permission): void => {
  const needed = permissionTable[permission]
  if (actor.profile > needed) throw new AppError('forbidden', { profile: profileNames[needed] })
}

/**
 * Throws `forbidden` if the profile is too low, and `scope_missing` if the API token lacks the scope. For operations
 * whose input decides which further permissions they need.
 */
export const assertPermission = (actor: Pick<Actor, 'profile' | 'permissions'>, permission: Permission): void => {
  assertProfile(actor, permission)
  if (!actor.permissions.has(permission)) throw new AppError('scope_missing', { scope: permission })
}

/** Returns the actor for actions of the product itself: jobs, first run, command line. */
export const systemActor = (name: string): Actor => ({
  kind: 'system',
  userName: name,
  accountId: null,
  profile: 10,
  permissions: permissionSets[10],
  credentialId: null,
  mustChangePassword: false,
  secondFactorDueAt: null,
  authenticatedAt: null,
  ip: '',
})
