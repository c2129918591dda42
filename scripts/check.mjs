// `npm run check`: what a commit must pass; no database, no browser, under a minute.
import { runSteps } from './run-steps.mjs'
import { report } from './sum.mjs'
import { runVitest } from './vitest.mjs'

process.exitCode = report([await runSteps(), await runVitest(['--project=unit'])])
