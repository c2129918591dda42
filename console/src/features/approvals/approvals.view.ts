import type { ViewSpec } from '../../lib/view-state.ts'
import type { Filter } from '../../ui/filters/filter.ts'

/** Filters of devices that are waiting for approval, by their API names. */
export const approvalFilters = [
  { name: 'isKnownAttackTool', label: 'Attack tool', kind: 'yesNo' },
  { name: 'vendor', label: 'Vendor', kind: 'text' },
  { name: 'vid', label: 'Vendor id', kind: 'text' },
  { name: 'pid', label: 'Product id', kind: 'text' },
  { name: 'hostIdentifier', label: 'Host name', kind: 'text' },
  { name: 'hashtags', label: 'Tag of the host', kind: 'tags' },
] as const satisfies readonly Filter[]

export const approvalsView: ViewSpec = {
  filters: approvalFilters.map(({ name }) => name),
  defaultSort: '',
  defaultColumns: [],
}
