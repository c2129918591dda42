/** `npm run gate -- [name…] [--quick]`: nobody gets in where he does not belong, and nothing that is sent is interpreted. */
import { runChecks } from '../rig/run-checks.ts'
import type { Check } from '../rig/verdict.ts'

const gates: readonly Check[] = []

await runChecks('Gates', gates)
