/** `npm run drill -- [name…] [--quick]`: what the product does when things break; nothing that it acknowledged is lost. */
import { runChecks } from '../rig/run-checks.ts'
import { drills } from './drills.ts'

await runChecks('Drills', drills)
