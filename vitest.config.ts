import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Keep compiled code here and in every process that a test starts with this variable. Compiling takes half of the
// processor time of a short command.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('build/test/code-cache', import.meta.url))

// Four workers for two cores: tests wait for databases, browsers and hosts. Three workers used 1.4 cores on average.
// Timeouts are limits for slow machines, not measurements.
const WORKERS = 4
/** As in scripts/test-plan.mjs. */
const SLOW_TESTS = '**/*.slow.test.ts'
const PROCESS_TESTS = '**/*.process.test.ts'
/** They read all sources, explore all states or run vitest: 6 to 12 s of processor time each, a third of that of all unit tests. */
const LONG_TESTS = [
  'proof/attack/sources.test.ts',
  'domain/test/change-gate.test.ts',
  'agent/test/windows-enforcement.property.test.ts',
  'scripts/summary-reporter.test.mjs',
]
/** They require that the product acts within a second or less. */
const TIMED_TESTS = ['e2e/kernel/*.slow.test.ts', 'e2e/windows/{agent,arrivals,chain}.slow.test.ts']
/** They compare outputs of a server in this process, whose clock they set. */
const GOLDENS = 'e2e/goldens/*.test.ts'
/** A loaded machine responds late. The default of one second would test the machine instead of the product. */
const expect = { poll: { timeout: 20_000 } }
const SLOW = ['**/node_modules/**', SLOW_TESTS]
/** Runs before the other global setups, because they create files. */
const TEMPORARY = 'server/test/temporary-dir.ts'
/** Directory for the slow tests, whose machines and installations are too large for memory. */
const DISK = tmpdir()

export default defineConfig({
  test: {
    reporters: ['dot'],
    projects: [
      {
        test: {
          name: 'unit',
          expect,
          include: [
            '{domain,agent,poller,cli,proof,scripts}/**/*.test.{ts,mjs}',
            '{console,platform/console,features/*/console,platform/contract,features/*/contract}/**/*.test.{ts,tsx}',
            'knowledge/**/*.test.ts',
          ],
          exclude: [...SLOW, PROCESS_TESTS, ...LONG_TESTS],
          globalSetup: [TEMPORARY],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // These modules keep no state that a test could change, so one process for many files saves a third of the
          // time.
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          // Most of these tests start agents, workers and commands as processes. `npm test` runs them, `npm run check`
          // does not.
          name: 'process',
          expect,
          include: [PROCESS_TESTS, ...LONG_TESTS],
          exclude: SLOW,
          globalSetup: [TEMPORARY],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'server',
          expect,
          include: ['{server,platform/server,features/*/server}/**/*.test.ts', GOLDENS],
          exclude: SLOW,
          // One PostgreSQL for the whole run; every file clones its migrated template.
          globalSetup: [TEMPORARY, 'server/test/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 180_000,
          // Tests create everything through their own factories. Reading the server's modules again for each of 138
          // files took two minutes.
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'e2e',
          expect,
          include: ['e2e/**/*.test.ts'],
          exclude: [...SLOW, GOLDENS],
          // One data directory with a migrated database for the whole run; most files start their servers on copies of it.
          globalSetup: [TEMPORARY, 'server/test/global-setup.ts', 'e2e/global-setup.ts'],
          setupFiles: ['e2e/setup.ts'],
          // A process for each file would load the browser driver and the modules again.
          isolate: false,
          // Each test starts whole servers and a browser, and some measure times, so they run last.
          maxWorkers: WORKERS,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          // Tests with emulated machines and installed packages. `npm test -- --all` runs them, `npm test` does not.
          name: 'slow',
          expect,
          include: [SLOW_TESTS],
          exclude: ['**/node_modules/**', ...TIMED_TESTS],
          env: { TMPDIR: DISK },
          setupFiles: ['e2e/setup.ts'],
          // These tests wait for emulated machines, packages and Wine. A single test uses only one of two cores.
          maxWorkers: 2,
          testTimeout: 240_000,
          hookTimeout: 360_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          // Slow tests with short time limits.
          name: 'timed',
          expect,
          include: TIMED_TESTS,
          env: { TMPDIR: DISK },
          setupFiles: ['e2e/setup.ts'],
          maxWorkers: 1,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
