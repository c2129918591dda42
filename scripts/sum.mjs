/**
 * Prints what was skipped and why, what failed, and as the very last line the sum.
 * @param {{passed: number, failed: string[], skipped?: {name: string, reason: string}[]}[]} parts
 * @returns {0 | 1} the exit code; a run in which nothing passed is a failure too.
 */
export function report(parts) {
  const passed = parts.reduce((sum, part) => sum + part.passed, 0)
  const failed = parts.flatMap((part) => part.failed)
  const skipped = parts.flatMap((part) => part.skipped ?? [])
  for (const { name, reason } of skipped) console.log(`skipped: ${name} (${reason})`)
  for (const name of failed) console.log(`failed: ${name}`)
  console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`)
  return failed.length > 0 || passed === 0 ? 1 : 0
}
