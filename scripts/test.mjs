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
const said = []
// Beside the tests, which wait for a third of their time: half a minute less.
const checked = filters.length === 0 ? runSteps({ atOnce: 1, say: (line) => said.push(line) }) : nothingChecked()
const parts = [await builds()]
const tests = await runVitest(filters, chromium())
for (const { file, seconds } of slowest(tests.files)) console.log(`${String(seconds).padStart(4)} s  ${file}`)
parts.push(await checked)
for (const line of said) console.log(line)
parts.push(await judgeAgain(tests, (files) => runVitest(files, chromium())))
process.exitCode = report(parts)

async function nothingChecked() {
  return { passed: 0, failed: [], skipped: [] }
}

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
