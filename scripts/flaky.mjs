/** Largest number of failed files to run again. More failures are a defect, not a temporary problem of the machine. */
const MOST_FILES = 3

/**
 * Runs files with failed tests again, alone. A test of processes, sockets or browsers that then passes counts as passed
 * and as `flaky`, and the summary lists it. A test that fails again counts as failed.
 * @param first result of the whole run, as returned by `runVitest`
 * @param again runs the given files
 */
export async function runAgain(first, again, say = console.log) {
  const { failed, failedFiles } = first
  const elsewhere = failed.filter((name) => !failedFiles.some((file) => name.startsWith(`${file} `)))
  if (failed.length === 0 || elsewhere.length > 0 || failedFiles.length > MOST_FILES) return first
  say(`again, alone: ${failedFiles.join(', ')}`)
  const second = await again(failedFiles)
  const passedAgain = failed.filter((name) => !second.failed.includes(name))
  // A second run that ends early proves nothing.
  if (second.failed.some((name) => !failedFiles.some((file) => name.startsWith(`${file} `)))) return first
  // The second run's results replace those of the first run for these files.
  const before = first.files.filter(({ file }) => failedFiles.includes(file))
  const passed = first.passed - before.reduce((sum, { passed }) => sum + passed, 0) + second.passed
  const others = first.skipped.filter(({ name }) => !failedFiles.some((file) => name.startsWith(`${file} `)))
  return { ...first, passed, failed: second.failed, skipped: [...others, ...second.skipped], flaky: passedAgain }
}
