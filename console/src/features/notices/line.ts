import type { HealthNotice, HealthStatus, noticeKinds, RiskNotification } from '@portcullis/contract'
import { agentAddress } from '../../lib/addresses.ts'
import { eventSeverity } from '../../ui/findings.ts'
import { healthWords } from '../../ui/health-labels.ts'
import type { Severity } from '../../ui/theme/tokens.ts'
import { strings } from './strings.ts'

export type NoticeList = 'risk' | 'health'

/** An alert of either list as a row shows it. */
export interface Line {
  id: number
  severity: Severity
  /** The severity as text; colour and shape only repeat it. */
  severityLabel: string
  title: string
  description: string
  count: number
  firstAt: string
  lastAt: string
  isRead: boolean
  isPinned: boolean
  isDismissed: boolean
  /** The page that shows more, and the label of its link. */
  about: { href: string; label: string } | null
}

/** Names of the kinds of alerts. */
export const kindLabels: Readonly<Record<(typeof noticeKinds)[number], string>> = {
  attackTool: strings.attackTool,
  driverMismatch: strings.driverMismatch,
  vulnerable: strings.vulnerableDevice,
  uncommon: strings.uncommonDevice,
  whitelistViolation: strings.notAllowed,
  blocked: strings.blockedDevice,
  keyClone: strings.copiedAgentKey,
  agentSilent: strings.hostDisconnected,
  tokenExpiring: strings.apiTokenExpiresSoon,
  accountSuspended: strings.accountSuspended,
  accountDisabled: strings.accountDisabledOrDeleted,
}

export const statusSeverity: Readonly<Record<HealthStatus, Severity>> = {
  OK: 'neutral',
  Warning: 'amber',
  Error: 'red',
  Unknown: 'neutral',
}

/** Accepts only paths of the console: the text comes from the server and contains names of devices. */
const isPath = (link: string): boolean => /^\/(?![/\\])/.test(link)

const aboutOf = ({ entityType, entityId, link }: RiskNotification): Line['about'] => {
  if (entityType === 'Agent' && entityId !== '') return { href: agentAddress(entityId), label: strings.openHost }
  if (!isPath(link)) return null
  if (entityType === 'Account') return { href: link, label: strings.openList }
  return { href: link, label: entityType === 'Model' ? strings.devicesOfModel : strings.showEvents }
}

export const lineOfRisk = (notice: RiskNotification): Line => ({
  id: notice.id,
  severity: eventSeverity(notice.severity),
  severityLabel: notice.severityString,
  title: notice.title,
  description: notice.description,
  count: notice.count,
  firstAt: notice.creationTime,
  lastAt: notice.lastTime,
  isRead: notice.isRead,
  isPinned: notice.isPinned,
  isDismissed: notice.isDismissed,
  about: aboutOf(notice),
})

export const lineOfHealth = (notice: HealthNotice): Line => ({
  id: notice.id,
  severity: statusSeverity[notice.status],
  severityLabel: healthWords[notice.status],
  title: notice.name,
  description: notice.description,
  count: notice.count,
  firstAt: notice.creationTime,
  lastAt: notice.lastTime,
  isRead: notice.isRead,
  isPinned: notice.isPinned,
  isDismissed: false,
  about: { href: '/settings/health', label: strings.healthPage },
})

/** Returns `10,000×` for a count above one, and an empty text for one. */
export const timesText = (count: number): string => (count > 1 ? `${count.toLocaleString('en')}×` : '')
