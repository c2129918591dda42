// `npm test`: static checks, then unit, server and browser tests. `npm test -- --all` also runs the slow tests. The
// last line of the output is the summary.
import { globSync } from 'node:fs'
import { DOCUMENTS, ensureBuilds } from './bootstrap/builds.mjs'
import { ROOT } from './bootstrap/say.mjs'
import { installDebianPackages } from './debian-packages.mjs'
import { runAgain } from './flaky.mjs'
import { runSteps } from './run-steps.mjs'
import { report } from './sum.mjs'
import { planOf, SLOW_TESTS } from './test-plan.mjs'
import { runVitest } from './vitest.mjs'

const slowFiles = globSync(SLOW_TESTS, { cwd: ROOT, exclude: ['**/node_modules', '.node'] }).sort()
const plan = planOf(process.argv.slice(2), slowFiles)

installDebianPackages({ isSlow: plan.isSlow })
// Most static checks leave a core idle for the builds.
const parts = await Promise.all([...(plan.isWhole ? [runSteps()] : []), builds()])
const tests = await runVitest(plan.vitest)
for (const { file, seconds } of slowest(tests.files)) console.log(`${String(seconds).padStart(4)} s  ${file}`)
parts.push(await runAgain(tests, runVitest))
process.exitCode = report(parts, plan.note)

/**
 * Builds what the browser tests serve, and the documents that tests read. A failed build counts as a failed test, and the
 * other tests still run.
 */
async function builds() {
  try {
    await ensureBuilds(process.execPath, ['console', 'help', 'agent', ...DOCUMENTS])
    return { passed: 0, failed: [], skipped: [] }
  } catch (error) {
    console.log(error.message)
    return { passed: 0, failed: ['builds of console, agent and documents'], skipped: [] }
  }
}

/** Returns the slowest test files. */
function slowest(files) {
  return files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 15)
}
