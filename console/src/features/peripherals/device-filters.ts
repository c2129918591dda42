import { icons } from '@portcullis/contract'
import type { Filter } from '../../ui/filters/filter.ts'

/** Filters by the kind of a device. */
export const kindFilters = [
  {
    name: 'devIcon',
    label: 'Kind',
    kind: 'choice',
    options: Object.entries(icons)
      .filter(([number]) => number !== '0')
      .map(([value, label]) => ({ value, label })),
  },
] as const satisfies readonly Filter[]

/** Filters by findings of devices and models. */
export const findingFilters = [
  { name: 'isKnownAttackTool', label: 'Attack tool', kind: 'yesNo' },
  { name: 'isVulnerablePeripheral', label: 'Vulnerable', kind: 'yesNo' },
] as const satisfies readonly Filter[]

/** Filters by the identity of devices and models. */
export const identityFilters = [
  { name: 'vendor', label: 'Vendor', kind: 'text' },
  { name: 'productInfo', label: 'Product', kind: 'text' },
  { name: 'vid', label: 'Vendor id', kind: 'text' },
  { name: 'pid', label: 'Product id', kind: 'text' },
] as const satisfies readonly Filter[]
