/** `npm run gate -- [name…] [--quick]`: checks that attackers get no access and that input is never run as code. */
import { runChecks } from '../kit/run.ts'
import { gates } from './gates.ts'

await runChecks('Gates', gates)
