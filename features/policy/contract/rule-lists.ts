/** The lists of rules and grants. */
import { list } from '@portcullis/platform/contract/list.ts'
import { PolicyRuleResource, ruleFilters } from './policy.ts'

const common = {
  row: PolicyRuleResource,
  filters: ruleFilters,
  unsorted: ['host', 'reason', 'groupId', 'shadowedBy'],
} as const

const commonFilters = ['state', 'tag', 'host', 'vid', 'pid', 'serial', 'reason'] as const

const state = { id: 'state', width: 116, shown: true, sort: null } as const

const commonColumns = [
  { id: 'by', of: 'changedBy', width: 110, shown: true },
  { id: 'changed', of: 'changedAt', width: 84, shown: true, title: 'Changed' },
  { id: 'reason', width: 200 },
  { id: 'tag', width: 110 },
  { id: 'host', of: 'hostIdentifier', width: 140 },
  { id: 'origin', width: 120, title: 'Source' },
] as const

export const ruleList = list({
  ...common,
  title: 'Rules',
  file: {
    pdf: ['effect', 'level', 'sentence', 'reason', 'state', 'expiresAt', 'changedBy', 'changedAt'],
    summary: ['effect', 'state'],
    time: 'changedAt',
    permission: 'export:read',
  },
  table: {
    defaultSort: 'level_asc',
    filters: ['effect', 'level', 'group', 'isUnused', 'isShadowed', 'origin', ...commonFilters],
    columns: [
      { id: 'level', width: 108, shown: true, title: 'Scope' },
      { id: 'sentence', width: 420, grow: true, shown: true, title: 'Rule', isTitle: true, sort: null },
      state,
      { id: 'expires', of: 'expiresAt', width: 76, shown: true, first: 'asc' },
      { id: 'hits', width: 124, shown: true },
      { id: 'group', width: 130 },
      { id: 'isUnused', width: 80 },
      ...commonColumns,
    ],
  },
})

export const grantList = list({
  ...common,
  title: 'Grants',
  table: {
    defaultSort: 'expiresAt_asc',
    filters: commonFilters,
    columns: [
      { id: 'sentence', width: 420, grow: true, shown: true, title: 'Grant', sort: null },
      { id: 'expires', of: 'expiresAt', width: 180, shown: true, first: 'asc', align: 'left', show: 'local' },
      { id: 'left', of: 'expiresAt', width: 76, shown: true, sort: null, show: 'until', title: 'Time left' },
      state,
      ...commonColumns,
    ],
  },
})
