import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { SUMMARY } from './vitest.mjs'

/**
 * Vitest reporter that leaves the result as one JSON file: counts, failed names and their files, seconds of each file,
 * and skipped names with the reason given to `ctx.skip(reason)`. Vitest's own JSON has no reasons, and counts a file
 * that does not load as nothing.
 */
export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const summary = { passed: 0, failed: [], skipped: [], failedFiles: [], files: [] }
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId)
      summary.files.push({ file, seconds: Math.round(module.diagnostic().duration / 1000) })
      if (module.state() === 'failed') summary.failedFiles.push(file)
      for (const test of module.children.allTests()) {
        const { state, note } = test.result()
        const name = `${file} > ${test.fullName}`
        if (state === 'passed') summary.passed++
        else if (state === 'failed') summary.failed.push(name)
        else summary.skipped.push({ name, reason: note ?? 'no reason given' })
      }
      if (module.errors().length > 0) summary.failed.push(`${file} (could not be run)`)
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length > 0) summary.failed.push(`${file} > ${suite.fullName} (before or after its tests)`)
      }
    }
    for (const error of unhandledErrors) summary.failed.push(`outside of any test: ${error.message}`)
    mkdirSync(dirname(SUMMARY), { recursive: true })
    writeFileSync(SUMMARY, JSON.stringify(summary))
  }
}
