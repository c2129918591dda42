import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  title: 'History of this device',
  oneHost: 'The device has no serial number of its own, so its history covers only this host.',
  journey: 'Where it was',
  stay: '{host}: {from} to {to}',
  stillAttached: 'now',
  approximate: 'The exact time is not known.',
  blockedStay: 'blocked',
  firstSeen: 'First seen',
  attachedUntil: 'Attached until',
  attachedNow: 'Attached',
  decisions: 'Decisions',
  decision: 'Decision',
  notAllowedByPolicy: 'Not allowed',
  reason: 'Reason',
  policyVersion: 'Policy',
  knowledgeVersion: 'Knowledge',
  noDecisions: 'No decisions are recorded yet.',
  version: 'Version {version, number}',
  incomplete: 'Only the newest hosts, stays and decisions are shown.',
})
