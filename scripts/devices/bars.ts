/** Bars of the device measurement, by the names of its figures. */
import type { Finding } from '../../rig/verdict.ts'

type Bar = Pick<Finding, 'what' | 'atMost'>

/** Of any devices, also of recordings that nobody has seen. */
const ofAll: readonly Bar[] = [
  { what: 'unknown: share', atMost: 0.02 },
  { what: 'false confirmed: share', atMost: 0.0001 },
]

/** What our own fixtures are is known, and some of them are attack tools. */
const ofFixtures: readonly Bar[] = [
  { what: 'missed tools', atMost: 0 },
  { what: 'wrong kinds', atMost: 0 },
]

/** Bars by set of devices. */
export const deviceBars = { fixtures: [...ofAll, ...ofFixtures], recordings: ofAll } as const
