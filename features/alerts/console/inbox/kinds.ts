import type { noticeKinds } from '@portcullis/contract'
import { strings } from './strings.ts'

/** Names of the kinds of alerts. */
export const kindLabels: Readonly<Record<(typeof noticeKinds)[number], string>> = {
  attackTool: strings.attackTool,
  driverMismatch: strings.driverMismatch,
  unknownDriver: strings.unknownDriver,
  vulnerable: strings.vulnerableDevice,
  uncommon: strings.uncommonDevice,
  whitelistViolation: strings.notAllowed,
  blocked: strings.blockedDevice,
  keyClone: strings.copiedAgentKey,
  duplicate: strings.possibleDuplicate,
  agentSilent: strings.hostDisconnected,
  tokenExpiring: strings.apiTokenExpiresSoon,
  accountSuspended: strings.accountSuspended,
  accountDisabled: strings.accountDisabledOrDeleted,
}
