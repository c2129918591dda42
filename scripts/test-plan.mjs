/** Tests with emulated machines and installed packages, in vitest's project `slow`. */
export const SLOW_TESTS = '**/*.slow.test.ts'

const ORDINARY = ['unit', 'process', 'server', 'e2e']

/**
 * Returns what `npm test -- args` runs: everything but the slow tests; with `--all` everything; with vitest arguments
 * (file names, `--project`) the tests that they select.
 * @param {string[]} args
 * @param {string[]} slowFiles
 * @returns {{filters: string[], isWhole: boolean, isSlow: boolean, vitest: string[], note: string | undefined}}
 */
export function planOf(args, slowFiles) {
  const filters = args.filter((arg) => arg !== '--all')
  const isWhole = filters.length === 0
  const isSlow = !isWhole || args.includes('--all')
  if (isSlow) return { filters, isWhole, isSlow, vitest: filters, note: undefined }
  return {
    ...{ filters, isWhole, isSlow },
    vitest: ORDINARY.map((project) => `--project=${project}`),
    note: `left out: ${slowFiles.length} slow test files (npm test -- --all runs them): ${slowFiles.join(', ')}`,
  }
}
