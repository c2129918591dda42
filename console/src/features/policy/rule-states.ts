import type { PolicyRuleResource } from '@portcullis/contract'
import type { Severity } from '../../ui/theme/tokens.ts'
import { strings } from './strings.ts'

/** How the state of a rule is drawn, and what would put it in force again. */
export const ruleStates: Readonly<Record<PolicyRuleResource['state'], { severity: Severity; cure: string }>> = {
  'In force': { severity: 'neutral', cure: '' },
  Expired: {
    severity: 'neutral',
    cure: strings.itsTimeIsOverSoIt,
  },
  'Tag deleted': {
    severity: 'amber',
    cure: strings.itsTagWasDeletedSoNo,
  },
  'Not authentic': {
    severity: 'red',
    cure: strings.itWasNotWrittenByThis,
  },
}

/** Names of the levels, in the order in which they decide. */
export const levelNames: Readonly<Record<PolicyRuleResource['level'], string>> = {
  grant: strings.grant,
  host: strings.host,
  tag: strings.tag,
  global: strings.allHosts,
}
