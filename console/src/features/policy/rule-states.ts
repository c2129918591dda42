import type { PolicyRuleResource } from '@portcullis/contract'
import type { Severity } from '../../ui/theme/tokens.ts'

/** How the state of a rule is drawn, and what would put it in force again. */
export const ruleStates: Readonly<Record<PolicyRuleResource['state'], { severity: Severity; cure: string }>> = {
  'In force': { severity: 'neutral', cure: '' },
  Expired: {
    severity: 'neutral',
    cure: 'Its time is over, so it decides nothing. Set a later end, or none, and save; or delete it.',
  },
  'Tag deleted': {
    severity: 'amber',
    cure: 'Its tag was deleted, so no host has it and it decides nothing. Choose another tag, a host or all hosts, and save; or delete it.',
  },
  'Not authentic': {
    severity: 'red',
    cure: 'It was not written by this server: its seal does not fit, so no host gets it and it decides nothing. Find out who changed the database; then save it anew if it is right, or delete it.',
  },
}

/** Names of the levels, in the order in which they decide. */
export const levelNames: Readonly<Record<PolicyRuleResource['level'], string>> = {
  grant: 'Grant',
  host: 'Host',
  tag: 'Tag',
  global: 'All hosts',
}
