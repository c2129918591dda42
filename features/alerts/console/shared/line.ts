import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import {
  type AlertState,
  type AlertVerdict,
  alertCatalogue,
  alertCause,
  type HealthNotice,
  type HealthStatus,
  type RiskNotification,
  verdictSeverity,
} from '#features/contract.ts'
import { eventSeverity } from '#features/devices/console/shared/findings.ts'
import { healthWords } from '#features/health/console/shared/health-labels.ts'

export type InboxList = 'risk' | 'health'

/** An alert of either list as a row shows it. */
export interface Line {
  id: number
  /** Kind of a risk alert, or `health`. */
  kind: RiskNotification['kind'] | 'health'
  /** Syslog number: 0 is the most severe. */
  rank: number
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
  state: AlertState
  owner: string
  snoozedUntil: string
  verdict: AlertVerdict | ''
  /** Whether it can only be closed with a verdict. */
  needsVerdict: boolean
  /** The model that the alert is about; null: it is about no single model. */
  model: { vid: string; pid: string } | null
  /** Up to three hosts, newest first. */
  hosts: readonly { uuid: string; hostIdentifier: string }[]
  hostsCount: number
  /** Page of the events or of the list that the alert is about; null: none. */
  page: string | null
}

export const statusSeverity: Readonly<Record<HealthStatus, Severity>> = {
  OK: 'neutral',
  Warning: 'amber',
  Error: 'red',
  Unknown: 'neutral',
}
const statusRank: Readonly<Record<HealthStatus, number>> = { Error: 3, Warning: 4, OK: 5, Unknown: 5 }

/** Accepts only paths of the console: the text comes from the server and contains names of devices. */
const isPath = (link: string): boolean => /^\/(?![/\\])/.test(link)

const modelOf = ({ entityType, entityId }: RiskNotification): Line['model'] => {
  const [, vid, pid] = /^([0-9A-F]{4}):([0-9A-F]{4})$/i.exec(entityId) ?? []
  return entityType === 'Model' && vid !== undefined && pid !== undefined ? { vid, pid } : null
}

const caseOf = ({ state, owner, snoozedUntil, verdict }: RiskNotification | HealthNotice) => ({
  state,
  owner,
  snoozedUntil,
  verdict,
})

export const lineOfRisk = (alert: RiskNotification): Line => ({
  id: alert.id,
  kind: alert.kind,
  rank: alert.severity,
  severity: eventSeverity(alert.severity),
  severityLabel: alert.severityString,
  title: alert.title,
  description: alert.description,
  count: alert.count,
  firstAt: alert.creationTime,
  lastAt: alert.lastTime,
  isRead: alert.isRead,
  isPinned: alert.isPinned,
  ...caseOf(alert),
  needsVerdict: alert.severity <= verdictSeverity,
  model: modelOf(alert),
  hosts: alert.hosts,
  hostsCount: alert.hostsCount,
  page: isPath(alert.link) ? alert.link : null,
})

export const lineOfHealth = (alert: HealthNotice): Line => ({
  id: alert.id,
  kind: 'health',
  rank: statusRank[alert.status],
  severity: statusSeverity[alert.status],
  severityLabel: healthWords[alert.status],
  title: alert.name,
  description: alert.description,
  count: alert.count,
  firstAt: alert.creationTime,
  lastAt: alert.lastTime,
  isRead: alert.isRead,
  isPinned: alert.isPinned,
  ...caseOf(alert),
  needsVerdict: false,
  model: null,
  hosts: [],
  hostsCount: 0,
  page: '/settings/health',
})

/** Returns `10,000×` for a count above one, and an empty string for one. */
export const timesText = (count: number): string => (count > 1 ? `${count.toLocaleString('en')}×` : '')

export const alertAddress = (id: number): string => `/alerts/${id}`

/** Returns the address of the list of hosts of an alert. */
export const alertHostsAddress = ({ id }: Pick<Line, 'id'>): string => `/agents?Alert=${id}`

const cause = `(?:${Object.values(alertCatalogue).map(alertCause).join('|')})`
const titlePattern = new RegExp(String.raw`^(.+) (\(${cause}\)(?: on .*)?)$`, 's')

/**
 * Splits a title before its cause, so that a long name of a device does not push the cause and the hosts out of the line:
 * `Rubber Ducky` and `(attack tool) on 12 hosts`.
 */
export const titleParts = ({ title, model }: Pick<Line, 'title' | 'model'>): [name: string, rest: string] => {
  const [, name = title, rest = ''] = (model === null ? null : titlePattern.exec(title)) ?? []
  return [name, rest]
}
