import { type PolicyRuleResource, ruleLevels, ruleStates as states } from '@portcullis/contract'
import type { ViewSpec } from '../../lib/view-state.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import type { Filter } from '../../ui/filters/filter.ts'
import { Icon } from '../../ui/icons.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import type { Column } from '../../ui/table/column.ts'
import classes from './PolicyPage.module.css'
import { levelNames, ruleStates } from './rule-states.ts'

const options = (values: readonly string[]) => values.map((value) => ({ value, label: value }))

const common = [
  { name: 'state', label: 'State', kind: 'choice', options: options(states) },
  { name: 'tag', label: 'Tag', kind: 'tags' },
  { name: 'host', label: 'Host', kind: 'text' },
  { name: 'vid', label: 'Vendor id', kind: 'text' },
  { name: 'pid', label: 'Product id', kind: 'text' },
  { name: 'serial', label: 'Serial number', kind: 'text' },
] as const satisfies readonly Filter[]

/** Filters of the rules, by the interface's names. */
export const ruleFilters = [
  {
    name: 'effect',
    label: 'Effect',
    kind: 'choice',
    single: true,
    options: [
      { value: 'allow', label: 'Allow' },
      { value: 'deny', label: 'Deny' },
    ],
  },
  {
    name: 'level',
    label: 'Speaks to',
    kind: 'choice',
    options: ruleLevels.filter((level) => level !== 'grant').map((value) => ({ value, label: levelNames[value] })),
  },
  {
    name: 'origin',
    label: 'Made by',
    kind: 'choice',
    options: [
      { value: 'rule', label: 'Writing a rule' },
      { value: 'approval', label: 'Approving or denying' },
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

/** Which rule is asked first: a deny, then the narrower allow. */
const Level = ({ rule }: { rule: PolicyRuleResource }) => (
  <span className={classes.level} data-effect={rule.effect}>
    <Icon name={rule.effect === 'deny' ? 'close' : 'check'} size={14} />
    {rule.effect === 'deny' ? 'Deny' : levelNames[rule.level]}
  </span>
)

const State = ({ rule }: { rule: PolicyRuleResource }) => {
  const { severity, cure } = ruleStates[rule.state]
  return rule.state === 'In force' ? (
    <span>in force</span>
  ) : (
    <SeverityTag severity={severity} word={rule.state.toLowerCase()} title={cure} />
  )
}

const sentence: Column<PolicyRuleResource> = {
  id: 'sentence',
  title: 'Rule',
  width: 420,
  grow: true,
  cell: (rule) => <DeviceText value={rule.sentence} />,
}
const shared: readonly Column<PolicyRuleResource>[] = [
  { id: 'state', title: 'State', width: 116, cell: (rule) => <State rule={rule} /> },
  {
    id: 'by',
    title: 'Changed by',
    width: 110,
    sortKey: 'changedBy',
    cell: (rule) => <DeviceText value={rule.changedBy} />,
  },
  {
    id: 'changed',
    title: 'Changed',
    width: 84,
    align: 'right',
    sortKey: 'changedAt',
    naturalSort: 'desc',
    cell: (rule) => <Time value={rule.changedAt} />,
  },
  { id: 'reason', title: 'Reason', width: 200, cell: (rule) => <DeviceText value={rule.reason} /> },
  { id: 'tag', title: 'Tag', width: 110, sortKey: 'tag', cell: (rule) => <DeviceText value={rule.tag} /> },
  {
    id: 'host',
    title: 'Host',
    width: 140,
    sortKey: 'hostIdentifier',
    cell: (rule) => <DeviceText value={rule.hostIdentifier} />,
  },
  {
    id: 'origin',
    title: 'Made by',
    width: 100,
    sortKey: 'origin',
    cell: (rule) => <span>{rule.origin === 'rule' ? 'writing' : 'approval'}</span>,
  },
]

export const ruleColumns: readonly Column<PolicyRuleResource>[] = [
  { id: 'level', title: 'Decides as', width: 108, sortKey: 'level', cell: (rule) => <Level rule={rule} /> },
  sentence,
  {
    id: 'expires',
    title: 'Ends',
    width: 76,
    align: 'right',
    sortKey: 'expiresAt',
    cell: (rule) => <Time value={rule.expiresAt} absent="never" />,
  },
  ...shared,
]

export const grantColumns: readonly Column<PolicyRuleResource>[] = [
  { ...sentence, title: 'Grant' },
  {
    id: 'expires',
    title: 'Until',
    width: 180,
    sortKey: 'expiresAt',
    cell: (rule) => <Time value={rule.expiresAt} form="local" />,
  },
  { id: 'left', title: 'Ends', width: 76, align: 'right', cell: (rule) => <Time value={rule.expiresAt} /> },
  ...shared,
]
