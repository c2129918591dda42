/**
 * Defines profiles and permissions for routes, console and tests. A profile has all permissions of profiles with a
 * higher number.
 */

/** Profiles of accounts and API tokens. The numbers are fixed by the interface. */
export const profiles = { administrator: 10, manager: 20, user: 30 } as const
export type UserProfile = (typeof profiles)[keyof typeof profiles]

/** Display names of the profiles. */
export const profileNames: Readonly<Record<UserProfile, string>> = { 10: 'Administrator', 20: 'Manager', 30: 'User' }

/** The lowest profile that has each permission. A route names exactly one permission, `public` or `agent`. */
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
  'feeds:write': profiles.manager,
  'metrics:read': profiles.user,
} as const satisfies Record<string, UserProfile>

export type Permission = keyof typeof permissionTable

/** The permission that a route needs, `public` for everyone, or `agent` for calls of agents. */
export type Audience = Permission | 'public' | 'agent'

/** Returns the permissions of a profile, sorted. */
export const permissionsOf = (profile: UserProfile): Permission[] =>
  (Object.keys(permissionTable) as Permission[]).filter((name) => profile <= permissionTable[name]).sort()

/** Describes each permission for people who choose the scopes of an API token. */
export const permissionTexts: Readonly<Record<Permission, string>> = {
  'self:read': 'Read your own account, sessions and permissions; create download tickets',
  'self:write': 'Change the personal details of your own account; end your sessions',
  'fleet:read': 'Read hosts, devices, events, rules, rollouts and jobs; follow the live and asset streams',
  'fleet:write': 'Change hosts, rules, tags, connections and quarantines; start and cancel jobs',
  'fleet:reload': 'Recalculate the insight lists',
  'export:read': 'Export the lists of hosts, devices, connections and events as files',
  'notices:read': 'Read alerts and notification groups',
  'notices:own': 'Mark alerts as read',
  'notices:dismiss': 'Dismiss alerts; retry deliveries',
  'health:read': 'Read the health and version of the server',
  'config:read': 'Read the configuration, except secrets; read reports',
  'config:write': 'Change the configuration, the policy settings and the report schedules',
  'debuglogs:read': 'Read the debug logs of hosts',
  'audit:read': 'Read the audit trail',
  'accounts:read': 'List accounts',
  'accounts:write': 'Create, change and delete accounts that have no permission the token lacks',
  'tokens:own': 'List and revoke API tokens; a token cannot create tokens',
  'enrolment:manage': 'Create and revoke enrolment tokens',
  'packages:manage': 'Manage agent packages',
  'feeds:write': 'Send events of other systems to the feed of the token',
  'metrics:read': 'Read the metrics',
}

/** Returns the default scopes of an API token: the read permissions of its profile. */
export const defaultScopesOf = (profile: UserProfile): Permission[] =>
  permissionsOf(profile).filter((name) => name.endsWith(':read'))
