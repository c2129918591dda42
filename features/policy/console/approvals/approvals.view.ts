import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { strings } from './strings.ts'

/** Filters of devices that are waiting for approval, by their API names. */
export const approvalFilters = [
  { name: 'isKnownAttackTool', label: strings.attackTool, kind: 'yesNo' },
  { name: 'vendor', label: strings.vendor, kind: 'text' },
  { name: 'vid', label: strings.vendorId, kind: 'text' },
  { name: 'pid', label: strings.productId, kind: 'text' },
  { name: 'hostIdentifier', label: strings.hostName, kind: 'text' },
  { name: 'hashtags', label: strings.hostTag, kind: 'tags' },
] as const satisfies readonly Filter[]

export const approvalsView: ViewSpec = {
  filters: approvalFilters.map(({ name }) => name),
  defaultSort: '',
  defaultColumns: [],
}
