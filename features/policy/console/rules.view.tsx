import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { grantList, type PolicyRuleResource, ruleList } from '#features/contract.ts'
import { levelNames, ruleStates } from './rule-states.ts'
import { strings } from './strings.ts'

/** Shows the scope of a rule. An icon marks deny rules; the sentence states the same. */
const Level = ({ rule }: { rule: PolicyRuleResource }) => (
  <Row as="span" gap={6} tone={rule.effect === 'deny' ? 'red' : undefined}>
    <Icon name={rule.effect === 'deny' ? 'close' : 'check'} size={14} />
    {levelNames[rule.level]}
  </Row>
)

const State = ({ rule }: { rule: PolicyRuleResource }) => {
  const { severity, label, cure } = ruleStates[rule.state]
  return rule.state === 'In force' ? (
    rule.shadowedBy !== null ? (
      <SeverityTag severity="neutral" word={strings.shadowed} title={strings.shadowedHint} />
    ) : rule.isUnused ? (
      <SeverityTag severity="neutral" word={strings.unused} title={strings.unusedHint} />
    ) : (
      <span>{strings.active}</span>
    )
  ) : (
    <SeverityTag severity={severity} word={label} title={cure} />
  )
}

const state = (rule: PolicyRuleResource) => <State rule={rule} />
const origin = (rule: PolicyRuleResource) => (rule.origin === 'rule' ? strings.rule : strings.originApproval)

export const rulesTable = listTable<PolicyRuleResource>(ruleList, {
  level: (rule) => <Level rule={rule} />,
  expires: (rule) => <Time value={rule.expiresAt} form="until" absent={strings.never} />,
  state,
  origin,
})

export const grantsTable = listTable<PolicyRuleResource>(grantList, { state, origin })
