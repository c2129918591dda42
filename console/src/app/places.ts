import type { Permission } from '@portcullis/contract'
import type { IconName } from '../ui/icons.tsx'

/** A place that the rail, the palette and the keyboard lead to. */
export interface Place {
  to: string
  title: string
  icon: IconName
  /** Second key after `g`. */
  key?: string
  permission: Permission
  /** What waits there is counted in the rail. */
  hasCount?: boolean
}

export const places: readonly Place[] = [
  { to: '/', title: 'Overview', icon: 'overview', key: 'o', permission: 'fleet:read' },
  { to: '/agents', title: 'Agents', icon: 'agents', key: 'a', permission: 'fleet:read' },
  { to: '/agentless', title: 'Agentless', icon: 'network', key: 'w', permission: 'fleet:read' },
  { to: '/peripherals', title: 'Peripherals', icon: 'peripherals', key: 'p', permission: 'fleet:read' },
  { to: '/insights', title: 'Insights', icon: 'insights', key: 'i', permission: 'fleet:read' },
  { to: '/rollouts', title: 'Rollouts', icon: 'rollout', key: 'r', permission: 'fleet:read' },
  { to: '/commands', title: 'Commands', icon: 'commands', key: 'c', permission: 'fleet:read' },
  { to: '/policy', title: 'Policy', icon: 'policy', key: 'l', permission: 'fleet:read' },
  { to: '/approvals', title: 'Approvals', icon: 'inbox', key: 'v', permission: 'fleet:read', hasCount: true },
  { to: '/events', title: 'Events', icon: 'events', key: 'e', permission: 'fleet:read' },
  { to: '/settings', title: 'Settings', icon: 'settings', key: 's', permission: 'self:read' },
]

export const settingsPlaces: readonly Place[] = [
  { to: '/settings/profile', title: 'My profile', icon: 'user', permission: 'self:read' },
  { to: '/settings/sessions', title: 'Sessions', icon: 'session', permission: 'self:read' },
  { to: '/settings/tokens', title: 'API tokens', icon: 'key', permission: 'tokens:own' },
  { to: '/settings/accounts', title: 'Accounts', icon: 'users', permission: 'accounts:read' },
  { to: '/settings/enrolment', title: 'Add a host', icon: 'plus', key: 'n', permission: 'enrolment:manage' },
  { to: '/settings/tags', title: 'Tags', icon: 'tag', key: 't', permission: 'fleet:read' },
  { to: '/settings/packages', title: 'Agent builds', icon: 'package', permission: 'fleet:read' },
  { to: '/settings/knowledge', title: 'Knowledge', icon: 'book', permission: 'health:read' },
  { to: '/settings/health', title: 'Health and version', icon: 'health', key: 'h', permission: 'health:read' },
  { to: '/settings/audit', title: 'Audit', icon: 'audit', permission: 'audit:read' },
]
