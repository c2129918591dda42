/** Bars of the device measurement, by figure name. */
import type { Finding } from '../../rig/verdict.ts'

export const deviceBars: readonly Pick<Finding, 'what' | 'atMost'>[] = [
  { what: 'false confirmed: n', atMost: 0 },
  { what: 'false suspected: share', atMost: 0.001 },
  { what: 'missed tools: share', atMost: 0.15 },
  { what: 'wrong kinds: share', atMost: 0.02 },
  { what: 'modems shown as phone: n', atMost: 0 },
  { what: 'unknown: share', atMost: 0.02 },
]
