import type { HealthNotice, HealthStatus, noticeKinds, RiskNotification } from '@portcullis/contract'
import { agentAddress } from '../../lib/addresses.ts'
import { eventSeverity } from '../../ui/findings.ts'
import { healthWords } from '../../ui/health-labels.ts'
import type { Severity } from '../../ui/theme/tokens.ts'
import { strings } from './strings.ts'

export type NoticeList = 'risk' | 'health'

/** A notice of either list, as it is drawn. */
export interface Line {
  id: number
  severity: Severity
  /** Says the severity; colour and shape only repeat it. */
  word: string
  title: string
  description: string
  count: number
  firstAt: string
  lastAt: string
  isRead: boolean
  isPinned: boolean
  isDismissed: boolean
  /** Where it is seen at work, and what is there; null when that is nowhere. */
  about: { href: string; words: string } | null
}

/** What each kind of notice is called. */
export const kindWords: Readonly<Record<(typeof noticeKinds)[number], string>> = {
  attackTool: strings.attackTool2,
  driverMismatch: strings.driverMismatch,
  vulnerable: strings.vulnerableDevice,
  uncommon: strings.uncommonDevice,
  whitelistViolation: strings.whitelistViolation,
  blocked: strings.blockedDevice,
  keyClone: strings.copiedAgentKey,
  agentSilent: strings.silentHost,
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

/** Only a path of the console is followed: the text comes from the server, and names of devices went into it. */
const isPath = (link: string): boolean => /^\/(?![/\\])/.test(link)

const aboutOf = ({ entityType, entityId, link }: RiskNotification): Line['about'] => {
  if (entityType === 'Agent' && entityId !== '') return { href: agentAddress(entityId), words: strings.openTheHost }
  if (!isPath(link)) return null
  if (entityType === 'Account') return { href: link, words: strings.openTheList }
  return { href: link, words: entityType === 'Model' ? strings.devicesOfThisModel : strings.theEventsOneByOne }
}

export const lineOfRisk = (notice: RiskNotification): Line => ({
  id: notice.id,
  severity: eventSeverity(notice.severity),
  word: notice.severityString,
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
  word: healthWords[notice.status],
  title: notice.name,
  description: notice.description,
  count: notice.count,
  firstAt: notice.creationTime,
  lastAt: notice.lastTime,
  isRead: notice.isRead,
  isPinned: notice.isPinned,
  isDismissed: false,
  about: { href: '/settings/health', words: strings.whatToDoAboutIt },
})

/** `10,000×`; nothing for one. */
export const timesText = (count: number): string => (count > 1 ? `${count.toLocaleString('en')}×` : '')
