import type { Permission } from '@portcullis/features/contract.ts'
import type { IconName } from '@portcullis/platform/console/ui/icons.tsx'
import { strings } from './strings.ts'

/** A page that the navigation, the palette and a key open. */
export interface Place {
  to: string
  title: string
  icon: IconName
  /** Second key after `g`. */
  key?: string
  permission: Permission
  /** Guide about this page, with its section. */
  help: string
  /** Shows the number of waiting items. */
  hasCount?: boolean
  /** Shows the number of unread alerts. */
  hasUnread?: boolean
  /** Shown only if quarantines are in use, with the number that need attention. */
  isOfNac?: boolean
  /** Shown in the bar at the bottom of a phone; the others open from its menu. */
  isOnCall?: true
  /** A shorter title for that bar. */
  short?: string
  /** Heading of its group in the settings list. */
  section?: string
}

export const places: readonly Place[] = [
  {
    to: '/',
    help: 'operator#what-you-see',
    title: strings.overview,
    icon: 'overview',
    key: 'o',
    permission: 'fleet:read',
    isOnCall: true,
  },
  {
    to: '/agents',
    help: 'operator#what-you-see',
    title: strings.hosts,
    icon: 'agents',
    key: 'a',
    permission: 'fleet:read',
    isOnCall: true,
  },
  {
    to: '/agentless',
    help: 'agentless',
    title: strings.agentlessHosts,
    icon: 'network',
    key: 'w',
    permission: 'fleet:read',
  },
  {
    to: '/peripherals',
    help: 'operator#findings',
    title: strings.devices,
    icon: 'peripherals',
    key: 'p',
    permission: 'fleet:read',
  },
  {
    to: '/findings',
    help: 'operator#findings',
    title: strings.findings,
    icon: 'warn',
    key: 'f',
    permission: 'fleet:read',
  },
  {
    to: '/insights',
    help: 'operator#findings',
    title: strings.insights,
    icon: 'insights',
    key: 'i',
    permission: 'fleet:read',
  },
  {
    to: '/rollouts',
    help: 'agent-updates#update-in-rings',
    title: strings.rollouts,
    icon: 'rollout',
    key: 'r',
    permission: 'fleet:read',
  },
  {
    to: '/commands',
    help: 'policy#arm-a-fleet',
    title: strings.commands,
    icon: 'commands',
    key: 'c',
    permission: 'fleet:read',
  },
  { to: '/policy', help: 'policy#rules', title: strings.policy, icon: 'policy', key: 'l', permission: 'fleet:read' },
  {
    to: '/approvals',
    help: 'policy#second-approver',
    title: strings.deviceApprovals,
    icon: 'inbox',
    key: 'v',
    permission: 'fleet:read',
    hasCount: true,
    isOnCall: true,
    short: strings.approvals,
  },
  {
    to: '/quarantines',
    help: 'integrations#quarantines',
    title: strings.quarantines,
    icon: 'lock',
    key: 'q',
    permission: 'fleet:read',
    isOfNac: true,
  },
  { to: '/reports', help: 'reports', title: strings.reports, icon: 'report', key: 'd', permission: 'config:read' },
  { to: '/events', help: 'siem', title: strings.events, icon: 'events', key: 'e', permission: 'fleet:read' },
  {
    to: '/alerts',
    help: 'alerts#the-inbox',
    title: strings.alerts,
    icon: 'bell',
    key: 'b',
    permission: 'notices:read',
    hasUnread: true,
    isOnCall: true,
  },
  { to: '/settings', help: 'settings', title: strings.settings, icon: 'settings', key: 's', permission: 'self:read' },
]

export const settingsPlaces: readonly Place[] = [
  {
    section: strings.you,
    to: '/settings/profile',
    help: 'operator#second-factor',
    title: strings.myProfile,
    icon: 'user',
    permission: 'self:read',
  },
  {
    section: strings.you,
    to: '/settings/sessions',
    help: 'operator#accounts',
    title: strings.sessions,
    icon: 'session',
    permission: 'self:read',
  },
  {
    section: strings.you,
    to: '/settings/tokens',
    help: 'operator#api-tokens',
    title: strings.apiTokens,
    icon: 'key',
    permission: 'tokens:own',
  },
  {
    section: strings.fleet,
    to: '/settings/accounts',
    help: 'operator#accounts',
    title: strings.accounts,
    icon: 'users',
    permission: 'accounts:read',
  },
  {
    section: strings.fleet,
    to: '/settings/enrolment',
    help: 'operator#add-hosts',
    title: strings.addAHost,
    icon: 'plus',
    key: 'n',
    permission: 'enrolment:manage',
  },
  {
    section: strings.fleet,
    to: '/settings/tags',
    help: 'operator#tags',
    title: strings.tags,
    icon: 'tag',
    key: 't',
    permission: 'fleet:read',
  },
  {
    section: strings.fleet,
    to: '/settings/packages',
    help: 'agent-updates#publish-a-build',
    title: strings.agentBuilds,
    icon: 'package',
    permission: 'fleet:read',
  },
  {
    section: strings.fleet,
    to: '/settings/knowledge',
    help: 'knowledge',
    title: strings.knowledge,
    icon: 'book',
    permission: 'health:read',
  },
  {
    section: strings.integrations,
    to: '/settings/mail',
    help: 'settings#mail',
    title: strings.mail,
    icon: 'inbox',
    permission: 'config:read',
  },
  {
    section: strings.integrations,
    to: '/settings/notifications',
    help: 'alerts#notification-groups',
    title: strings.notificationGroups,
    icon: 'bell',
    permission: 'notices:read',
  },
  {
    section: strings.integrations,
    to: '/settings/deliveries',
    help: 'alerts#deliveries',
    title: strings.deliveries,
    icon: 'upload',
    permission: 'config:read',
  },
  {
    section: strings.integrations,
    to: '/settings/directory',
    help: 'settings#directory',
    title: strings.directory,
    icon: 'users',
    permission: 'config:read',
  },
  {
    section: strings.integrations,
    to: '/settings/identity',
    help: 'settings#identity-provider',
    title: strings.identityProvider,
    icon: 'key',
    permission: 'config:read',
  },
  {
    section: strings.integrations,
    to: '/settings/ise',
    help: 'integrations#cisco-ise',
    title: strings.ciscoIse,
    icon: 'network',
    permission: 'config:read',
  },
  {
    section: strings.integrations,
    to: '/settings/counteract',
    help: 'integrations#forescout-counteract',
    title: strings.counteract,
    icon: 'network',
    permission: 'config:read',
  },
  {
    section: strings.integrations,
    to: '/settings/assets',
    help: 'asset-stream',
    title: strings.assetStream,
    icon: 'network',
    permission: 'fleet:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/set-up',
    help: 'first-day',
    title: strings.setUp,
    icon: 'check',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/security',
    help: 'settings#sign-in-security',
    title: strings.signInSecurity,
    icon: 'key',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/login',
    help: 'settings#sign-in-page',
    title: strings.loginPage,
    icon: 'imaging',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/domain',
    help: 'settings#domain-name',
    title: strings.domainName,
    icon: 'external',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/licence',
    help: 'settings#licence',
    title: strings.licence,
    icon: 'policy',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/product',
    help: 'settings#product',
    title: strings.product,
    icon: 'settings',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/backups',
    help: 'backup#scheduled-backups',
    title: strings.backups,
    icon: 'storage',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/history',
    help: 'settings#what-all-pages-share',
    title: strings.settingsHistory,
    icon: 'refresh',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/health',
    help: 'health',
    title: strings.healthAndVersion,
    icon: 'health',
    key: 'h',
    permission: 'health:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/thresholds',
    help: 'health#thresholds',
    title: strings.healthThresholds,
    icon: 'filter',
    permission: 'config:read',
  },
  {
    section: strings.thisServer,
    to: '/settings/audit',
    help: 'audit#read-the-trail',
    title: strings.auditTrail,
    icon: 'audit',
    permission: 'audit:read',
  },
]

/** Returns the place with the longest path that an address starts with. */
export const placeOf = (among: readonly Place[], pathname: string): Place | undefined =>
  among
    .filter(({ to }) => pathname === to || (to !== '/' && pathname.startsWith(`${to}/`)))
    .sort((a, b) => b.to.length - a.to.length)[0]

/** Returns the address of the section of the guide about a page. */
export const helpAddress = (pathname: string): string => {
  const place = placeOf([...settingsPlaces, ...places], pathname)
  return `/help/guide${place === undefined ? '' : `/${place.help}`}`
}
