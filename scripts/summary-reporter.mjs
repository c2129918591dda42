import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { namedTests } from './takeover.ts'
import { SUMMARY } from './vitest.mjs'

/**
 * Vitest reporter that writes the result as one JSON file. It contains counts, failed tests with their files, the
 * seconds of each file, and skipped names with the reason of `ctx.skip(reason)` or `unless(reason)`. A skip without a
 * reason is a failure, and so is a missing test of the takeover matrix, in continuous integration also a skipped one. Vitest's own
 * JSON has no reasons and does not count files that fail to load.
 */
export default class SummaryReporter {
  constructor({ named = namedTests(), isStrict = process.env.CI !== undefined } = {}) {
    this.named = named
    this.isStrict = isStrict
  }

  onInit(vitest) {
    // Vitest itself skips tests that do not match `-t`.
    this.isNarrowed = vitest.config.testNamePattern !== undefined
  }

  onTestRunEnd(modules, unhandledErrors) {
    const summary = { passed: 0, failed: [], skipped: [], failedFiles: [], files: [] }
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId)
      const tests = [...module.children.allTests()]
      const passed = tests.filter((test) => test.result().state === 'passed').length
      summary.passed += passed
      summary.files.push({ file, passed, seconds: Math.round(module.diagnostic().duration / 1000) })
      if (module.state() === 'failed') summary.failedFiles.push(file)
      for (const test of tests) {
        const { state, note } = test.result()
        const name = `${file} > ${test.fullName}`
        if (state === 'passed') continue
        if (state === 'failed') summary.failed.push(name)
        else {
          const reason = note ?? reasonOf(test)
          if (reason !== undefined) summary.skipped.push({ name, reason })
          else if (!this.isNarrowed) summary.failed.push(`${name} (skipped without a reason)`)
        }
      }
      for (const named of this.isNarrowed ? [] : this.named) {
        const test = tests.find(({ fullName }) => fullName === named.name)
        const isMissing = test === undefined || (this.isStrict && test.result().state === 'skipped')
        if (named.file === file && isMissing)
          summary.failed.push(`${file} > ${named.name} (did not run, but the takeover matrix relies on it)`)
      }
      if (module.errors().length > 0) summary.failed.push(`${file} (could not be run)`)
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length > 0) summary.failed.push(`${file} > ${suite.fullName} (before or after its tests)`)
      }
    }
    for (const error of unhandledErrors) summary.failed.push(`outside any test: ${error.message}`)
    mkdirSync(dirname(SUMMARY), { recursive: true })
    writeFileSync(SUMMARY, JSON.stringify(summary))
  }
}

/** Returns the reason that `unless(reason)` stored on the test or its suite, or why the suite did not start. */
function reasonOf(test) {
  for (let task = test; task !== undefined; task = task.parent) {
    const { skipReason } = task.meta?.() ?? {}
    if (skipReason !== undefined) return skipReason
    if (task.type !== 'test' && task.errors().length > 0)
      return `its ${task.type === 'module' ? 'file' : 'suite'} failed`
  }
}
