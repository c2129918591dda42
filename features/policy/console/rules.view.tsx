import { type PolicyRuleResource, ruleLevels, ruleStates as states } from '@portcullis/contract'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { levelNames, ruleStates } from './rule-states.ts'
import { strings } from './strings.ts'

const common = [
  {
    name: 'state',
    label: strings.state,
    kind: 'choice',
    options: states.map((value) => ({ value, label: ruleStates[value].label })),
  },
  { name: 'tag', label: strings.tag, kind: 'tags' },
  { name: 'host', label: strings.host, kind: 'text' },
  { name: 'vid', label: strings.vendorId, kind: 'text' },
  { name: 'pid', label: strings.productId, kind: 'text' },
  { name: 'serial', label: strings.serialNumber, kind: 'text' },
] as const satisfies readonly Filter[]

/** Filters of the rules, by their API names. */
export const ruleFilters = [
  {
    name: 'effect',
    label: strings.effect,
    kind: 'choice',
    single: true,
    options: [
      { value: 'allow', label: strings.allow },
      { value: 'deny', label: strings.deny },
    ],
  },
  {
    name: 'level',
    label: strings.scope,
    kind: 'choice',
    options: ruleLevels.filter((level) => level !== 'grant').map((value) => ({ value, label: levelNames[value] })),
  },
  {
    name: 'origin',
    label: strings.origin,
    kind: 'choice',
    options: [
      { value: 'rule', label: strings.rule },
      { value: 'approval', label: strings.originApproval },
    ],
  },
  ...common,
] as const satisfies readonly Filter[]

export const grantFilters = common

export const rulesView: ViewSpec = {
  filters: ruleFilters.map(({ name }) => name),
  defaultSort: 'level_asc',
  defaultColumns: ['level', 'sentence', 'state', 'expires', 'by', 'changed'],
}

export const grantsView: ViewSpec = {
  filters: grantFilters.map(({ name }) => name),
  defaultSort: 'expiresAt_asc',
  defaultColumns: ['sentence', 'expires', 'left', 'state', 'by', 'changed'],
}

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
    <span>{strings.inForce}</span>
  ) : (
    <SeverityTag severity={severity} word={label} title={cure} />
  )
}

const sentence: Column<PolicyRuleResource> = {
  id: 'sentence',
  title: strings.rule,
  width: 420,
  grow: true,
  cell: (rule) => <DeviceText value={rule.sentence} />,
}
const shared: readonly Column<PolicyRuleResource>[] = [
  { id: 'state', title: strings.state, width: 116, cell: (rule) => <State rule={rule} /> },
  {
    id: 'by',
    title: strings.changedByColumn,
    width: 110,
    sortKey: 'changedBy',
    cell: (rule) => <DeviceText value={rule.changedBy} />,
  },
  {
    id: 'changed',
    title: strings.changed,
    width: 84,
    align: 'right',
    sortKey: 'changedAt',
    naturalSort: 'desc',
    cell: (rule) => <Time value={rule.changedAt} />,
  },
  { id: 'reason', title: strings.reason, width: 200, cell: (rule) => <DeviceText value={rule.reason} /> },
  { id: 'tag', title: strings.tag, width: 110, sortKey: 'tag', cell: (rule) => <DeviceText value={rule.tag} /> },
  {
    id: 'host',
    title: strings.host,
    width: 140,
    sortKey: 'hostIdentifier',
    cell: (rule) => <DeviceText value={rule.hostIdentifier} />,
  },
  {
    id: 'origin',
    title: strings.origin,
    width: 120,
    sortKey: 'origin',
    cell: (rule) => <span>{rule.origin === 'rule' ? strings.rule : strings.originApproval}</span>,
  },
]

export const ruleColumns: readonly Column<PolicyRuleResource>[] = [
  { id: 'level', title: strings.scope, width: 108, sortKey: 'level', cell: (rule) => <Level rule={rule} /> },
  sentence,
  {
    id: 'expires',
    title: strings.expires,
    width: 76,
    align: 'right',
    sortKey: 'expiresAt',
    cell: (rule) => <Time value={rule.expiresAt} form="until" absent={strings.never} />,
  },
  ...shared,
]

export const grantColumns: readonly Column<PolicyRuleResource>[] = [
  { ...sentence, title: strings.grant },
  {
    id: 'expires',
    title: strings.expires,
    width: 180,
    sortKey: 'expiresAt',
    cell: (rule) => <Time value={rule.expiresAt} form="local" />,
  },
  {
    id: 'left',
    title: strings.expires,
    width: 76,
    align: 'right',
    cell: (rule) => <Time value={rule.expiresAt} form="until" />,
  },
  ...shared,
]
