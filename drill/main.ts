/** `npm run drill -- [name…] [--quick]`: what the product does when things break; nothing that it acknowledged is lost. */
import { runChecks } from '../rig/run-checks.ts'
import type { Check } from '../rig/verdict.ts'
import { killServer } from './kill-server.ts'

const drills: readonly Check[] = [killServer]

await runChecks('Drills', drills)
