// `npm run check`: what a commit must pass; no database, no browser, under a minute.
import { runSteps } from './run-steps.mjs'
import { report } from './sum.mjs'
import { runVitest } from './vitest.mjs'

// Side by side: tests of processes wait for most of their time, and the static checks take the cores meanwhile.
const said = []
const [steps, tests] = await Promise.all([
  runSteps({ atOnce: 1, say: (line) => said.push(line) }),
  runVitest(['--project=unit']),
])
for (const line of said) console.log(line)
process.exitCode = report([steps, tests])
