/** `npm run drill -- [name…] [--quick]`: what the product does when things break; nothing that it acknowledged is lost. */
import { runChecks } from '../rig/run-checks.ts'
import type { Check } from '../rig/verdict.ts'
import { killServer } from './kill-server.ts'
import { rollingRestart } from './rolling-restart.ts'

const drills: readonly Check[] = [killServer, rollingRestart]

await runChecks('Drills', drills)
