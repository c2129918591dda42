import { icons } from '@portcullis/contract'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { strings } from './strings.ts'

/** Filters by the kind of a device. */
export const kindFilters = [
  {
    name: 'devIcon',
    label: strings.kind,
    kind: 'choice',
    options: Object.entries(icons)
      .filter(([number]) => number !== '0')
      .map(([value, label]) => ({ value, label })),
  },
] as const satisfies readonly Filter[]

/** Filters by findings of devices and models. */
export const findingFilters = [
  { name: 'isKnownAttackTool', label: strings.attackTool, kind: 'yesNo' },
  { name: 'isVulnerablePeripheral', label: strings.vulnerable, kind: 'yesNo' },
] as const satisfies readonly Filter[]

/** Filters by the identity of devices and models. */
export const identityFilters = [
  { name: 'vendor', label: strings.vendor, kind: 'text' },
  { name: 'productInfo', label: strings.product, kind: 'text' },
  { name: 'vid', label: strings.vendorId, kind: 'text' },
  { name: 'pid', label: strings.productId, kind: 'text' },
] as const satisfies readonly Filter[]
