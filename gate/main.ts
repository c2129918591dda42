/** `npm run gate -- [name…] [--quick]`: nobody gets in where he does not belong, and nothing that is sent is interpreted. */
import { runChecks } from '../rig/run-checks.ts'
import { gates } from './gates.ts'

await runChecks('Gates', gates)
