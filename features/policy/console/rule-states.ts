import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { PolicyRuleResource } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Labels of rule states, with their severity and how to make the rule active again. */
export const ruleStates: Readonly<
  Record<PolicyRuleResource['state'], { severity: Severity; label: string; cure: string }>
> = {
  'In force': { severity: 'neutral', label: strings.active, cure: '' },
  Expired: {
    severity: 'neutral',
    label: strings.expired,
    cure: strings.cureExpired,
  },
  'Tag deleted': {
    severity: 'amber',
    label: strings.tagDeleted,
    cure: strings.cureTagDeleted,
  },
  'Not authentic': {
    severity: 'red',
    label: strings.notAuthentic,
    cure: strings.cureNotAuthentic,
  },
}

/** Labels of the levels, by precedence. */
export const levelNames: Readonly<Record<PolicyRuleResource['level'], string>> = {
  grant: strings.grant,
  host: strings.hostName,
  tag: strings.tag,
  global: strings.allHosts,
}
