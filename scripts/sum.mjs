/**
 * Prints skipped tests with reasons, failed tests, tests that passed only when run again, and the summary as last line.
 * @param {{passed: number, failed: string[], skipped?: {name: string, reason: string}[], flaky?: string[]}[]} parts
 * @param {string} [note] one line about the tests that this run left out
 * @returns {0 | 1} the exit code; a run without passed tests is also a failure
 */
export function report(parts, note) {
  const passed = parts.reduce((sum, part) => sum + part.passed, 0)
  const failed = parts.flatMap((part) => part.failed)
  const skipped = parts.flatMap((part) => part.skipped ?? [])
  const flaky = parts.flatMap((part) => part.flaky ?? [])
  for (const { name, reason } of skipped) console.log(`skipped: ${name} (${reason})`)
  for (const name of failed) console.log(`failed: ${name}`)
  for (const name of flaky) console.log(`flaky: ${name}`)
  if (flaky.length > 0) console.log(`${flaky.length} flaky: failed, then passed when run again alone`)
  if (note !== undefined) console.log(note)
  console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`)
  return failed.length > 0 || passed === 0 ? 1 : 0
}
