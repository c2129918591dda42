/** Bars of the device measurement, by figure name. */
import type { Finding } from '../../rig/verdict.ts'

type Bar = Pick<Finding, 'what' | 'atMost'>

/** For all devices, including unknown recordings. */
const ofAll: readonly Bar[] = [
  { what: 'unknown: share', atMost: 0.02 },
  { what: 'false confirmed: share', atMost: 0.0001 },
]

/** For our own fixtures, which have known kinds and include attack tools. */
const ofFixtures: readonly Bar[] = [
  { what: 'missed tools', atMost: 0 },
  { what: 'wrong kinds', atMost: 0 },
]

/** Bars by set of devices. */
export const deviceBars = { fixtures: [...ofAll, ...ofFixtures], recordings: ofAll } as const
