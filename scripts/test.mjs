// `npm test`: static checks, then unit, server and browser tests. The last line of its output is the sum.
import { existsSync } from 'node:fs'
import { ensureBuilds } from './bootstrap/builds.mjs'
import { installDebianPackages } from './debian-packages.mjs'
import { runSteps } from './run-steps.mjs'
import { report } from './sum.mjs'
import { judgeAgain } from './unsteady.mjs'
import { runVitest } from './vitest.mjs'

// Arguments are vitest's (names of files, --project): then only those tests run.
const filters = process.argv.slice(2)

installDebianPackages()
const parts = []
if (filters.length === 0) parts.push(await runSteps())
parts.push(await builds())
const tests = await runVitest(filters, chromium())
for (const { file, seconds } of slowest(tests.files)) console.log(`${String(seconds).padStart(4)} s  ${file}`)
parts.push(await judgeAgain(tests, (files) => runVitest(files, chromium())))
process.exitCode = report(parts)

/** The browser tests serve what is built; a build that fails is a failed test and no reason to run nothing. */
async function builds() {
  try {
    await ensureBuilds(process.execPath, ['console', 'agent'])
    return { passed: 0, failed: [], skipped: [] }
  } catch (error) {
    console.log(error.message)
    return { passed: 0, failed: ['builds of console and agent'], skipped: [] }
  }
}

/** Where the minutes go. */
function slowest(files) {
  return files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 15)
}

function chromium() {
  const path = process.env.PORTCULLIS_CHROMIUM ?? '/usr/bin/chromium'
  return existsSync(path) ? { PORTCULLIS_CHROMIUM: path } : {}
}
