/**
 * Who may do what: the one table that routes, console and tests read. Profiles are ordered; a lower number may do all
 * that a higher one may.
 */

/** Profiles of accounts and API tokens, as the field's clients know them. */
export const profiles = { administrator: 10, manager: 20, user: 30 } as const
export type UserProfile = (typeof profiles)[keyof typeof profiles]

/** Names of the profiles, for people. */
export const profileNames: Readonly<Record<UserProfile, string>> = { 10: 'Administrator', 20: 'Manager', 30: 'User' }

/** The lowest profile each permission is given to. A route names exactly one of these, `public`, or an agent audience. */
export const permissionTable = {
  'self:read': profiles.user,
  'self:write': profiles.user,
  'fleet:read': profiles.user,
  'fleet:write': profiles.manager,
  'fleet:reload': profiles.user,
  'export:read': profiles.user,
  'notices:read': profiles.user,
  'notices:own': profiles.user,
  'notices:dismiss': profiles.manager,
  'health:read': profiles.user,
  'config:read': profiles.manager,
  'config:write': profiles.administrator,
  'debuglogs:read': profiles.manager,
  'audit:read': profiles.manager,
  'accounts:read': profiles.user,
  'accounts:write': profiles.manager,
  'tokens:own': profiles.user,
  'enrolment:manage': profiles.administrator,
  'packages:manage': profiles.administrator,
  'metrics:read': profiles.user,
} as const satisfies Record<string, UserProfile>

export type Permission = keyof typeof permissionTable

/** Who a route speaks to besides people: anyone, an agent's enrolment or session. */
export type Audience = Permission | 'public' | 'agent'

/** Permissions a profile has, sorted. */
export const permissionsOf = (profile: UserProfile): Permission[] =>
  (Object.keys(permissionTable) as Permission[]).filter((name) => profile <= permissionTable[name]).sort()
