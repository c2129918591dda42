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
  /** Its notices that the reader has not read are counted in the rail. */
  hasUnread?: boolean
  /** Stands in the rail only where quarantines are of interest; what waits for a person there is counted. */
  isOfNac?: boolean
  /** Heading that it stands under, in a list that has headings. */
  section?: string
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
  { to: '/approvals', title: 'Device approvals', icon: 'inbox', key: 'v', permission: 'fleet:read', hasCount: true },
  { to: '/quarantines', title: 'Quarantines', icon: 'lock', key: 'q', permission: 'fleet:read', isOfNac: true },
  { to: '/reports', title: 'Reports', icon: 'report', key: 'd', permission: 'config:read' },
  { to: '/events', title: 'Events', icon: 'events', key: 'e', permission: 'fleet:read' },
  { to: '/notices', title: 'Notices', icon: 'bell', key: 'b', permission: 'notices:read', hasUnread: true },
  { to: '/settings', title: 'Settings', icon: 'settings', key: 's', permission: 'self:read' },
]

export const settingsPlaces: readonly Place[] = [
  { section: 'You', to: '/settings/profile', title: 'My profile', icon: 'user', permission: 'self:read' },
  { section: 'You', to: '/settings/sessions', title: 'Sessions', icon: 'session', permission: 'self:read' },
  { section: 'You', to: '/settings/tokens', title: 'API tokens', icon: 'key', permission: 'tokens:own' },
  { section: 'Fleet', to: '/settings/accounts', title: 'Accounts', icon: 'users', permission: 'accounts:read' },
  {
    section: 'Fleet',
    to: '/settings/enrolment',
    title: 'Add a host',
    icon: 'plus',
    key: 'n',
    permission: 'enrolment:manage',
  },
  { section: 'Fleet', to: '/settings/tags', title: 'Tags', icon: 'tag', key: 't', permission: 'fleet:read' },
  { section: 'Fleet', to: '/settings/packages', title: 'Agent builds', icon: 'package', permission: 'fleet:read' },
  { section: 'Fleet', to: '/settings/knowledge', title: 'Knowledge', icon: 'book', permission: 'health:read' },
  { section: 'Connected', to: '/settings/mail', title: 'Mail', icon: 'inbox', permission: 'config:read' },
  {
    section: 'Connected',
    to: '/settings/notifications',
    title: 'Notification groups',
    icon: 'bell',
    permission: 'notices:read',
  },
  { section: 'Connected', to: '/settings/deliveries', title: 'Deliveries', icon: 'upload', permission: 'config:read' },
  { section: 'Connected', to: '/settings/directory', title: 'Directory', icon: 'users', permission: 'config:read' },
  {
    section: 'Connected',
    to: '/settings/identity',
    title: 'Identity provider',
    icon: 'key',
    permission: 'config:read',
  },
  { section: 'Connected', to: '/settings/ise', title: 'Cisco ISE', icon: 'network', permission: 'config:read' },
  {
    section: 'Connected',
    to: '/settings/counteract',
    title: 'CounterACT',
    icon: 'network',
    permission: 'config:read',
  },
  { section: 'Connected', to: '/settings/assets', title: 'Asset stream', icon: 'network', permission: 'fleet:read' },
  {
    section: 'This server',
    to: '/settings/security',
    title: 'Sign-in security',
    icon: 'key',
    permission: 'config:read',
  },
  { section: 'This server', to: '/settings/login', title: 'Login page', icon: 'imaging', permission: 'config:read' },
  { section: 'This server', to: '/settings/domain', title: 'Domain name', icon: 'external', permission: 'config:read' },
  { section: 'This server', to: '/settings/licence', title: 'Licence', icon: 'policy', permission: 'config:read' },
  { section: 'This server', to: '/settings/product', title: 'Product', icon: 'settings', permission: 'config:read' },
  {
    section: 'This server',
    to: '/settings/history',
    title: 'History of settings',
    icon: 'refresh',
    permission: 'config:read',
  },
  {
    section: 'This server',
    to: '/settings/health',
    title: 'Health and version',
    icon: 'health',
    key: 'h',
    permission: 'health:read',
  },
  {
    section: 'This server',
    to: '/settings/thresholds',
    title: 'Health thresholds',
    icon: 'filter',
    permission: 'config:read',
  },
  { section: 'This server', to: '/settings/audit', title: 'Audit', icon: 'audit', permission: 'audit:read' },
]

/** The place among some that an address belongs to: the longest that it begins with. */
export const placeOf = (among: readonly Place[], pathname: string): Place | undefined =>
  among
    .filter(({ to }) => pathname === to || (to !== '/' && pathname.startsWith(`${to}/`)))
    .sort((a, b) => b.to.length - a.to.length)[0]
