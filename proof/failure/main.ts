/** `npm run drill -- [name…] [--quick]`: injects failures and checks that no acknowledged data is lost. */
import { runChecks } from '../kit/run.ts'
import { drills } from './drills.ts'

await runChecks('Drills', drills)
