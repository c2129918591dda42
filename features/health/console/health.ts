import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { ConfigItem, HealthStatus, SubsystemName } from '#features/contract.ts'

/** Severity of each state; null if nobody needs to act. */
export const healthSeverity: Record<HealthStatus, Severity | null> = {
  OK: null,
  Warning: 'amber',
  Error: 'red',
  Unknown: null,
}

/** The page on which a part is configured or visible. */
export const partAddress: Readonly<Partial<Record<SubsystemName, string>>> = {
  'agent gateway': '/agents',
  'event processing': '/events',
  'agentless worker': '/agentless',
  deliveries: '/settings/deliveries',
  mail: '/settings/mail',
  LDAP: '/settings/directory',
  ISE: '/settings/ise',
  CACT: '/settings/counteract',
  'asset stream': '/settings/assets',
  licence: '/settings/licence',
  knowledge: '/settings/knowledge',
  reports: '/reports',
  audit: '/settings/audit',
}

/** Returns the value of a threshold with its unit. */
export const thresholdText = ({ unit }: Pick<ConfigItem, 'unit'>, value: string): string =>
  `${Number(value).toLocaleString('en')}${unit === undefined ? '' : ` ${unit}`}`
