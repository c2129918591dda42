// `npm run check`: the checks for every commit. They need no database and no browser, and take less than a minute.
import { runSteps } from './run-steps.mjs'
import { report } from './sum.mjs'
import { runVitest } from './vitest.mjs'

// Run both at the same time: process tests mostly wait, so the static checks can use the cores.
const lines = []
const [steps, tests] = await Promise.all([
  runSteps({ atOnce: 1, say: (line) => lines.push(line) }),
  runVitest(['--project=unit']),
])
for (const line of lines) console.log(line)
process.exitCode = report([steps, tests])
