import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Node keeps what it compiled, here and in every process that a test starts with this variable: half of the processor
// time of a short command goes into that.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('build/test/code-cache', import.meta.url))

// On two cores: tests wait for databases and hosts a third of their time, and two workers left the cores idle then.
// Times are bounds for machines that are slow, not measures.
const WORKERS = 3
/** As in scripts/test-plan.mjs. */
const SLOW_TESTS = '**/*.slow.test.ts'
const PROCESS_TESTS = '**/*.process.test.ts'
/** A loaded machine answers late; the default of one second would judge the machine. */
const expect = { poll: { timeout: 20_000 } }
const SLOW = ['**/node_modules/**', SLOW_TESTS]
/** First of all: the others make files. */
const TEMPORARY = 'server/test/temporary-dir.ts'
/** Where the slow tests work: their machines and installations are too large for memory. */
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
            '{contract,domain,agent,poller,cli,bench,rig,drill,gate,mutation,scripts}/**/*.test.{ts,mjs}',
            'console/**/*.test.{ts,tsx}',
            'knowledge/**/*.test.ts',
          ],
          exclude: [...SLOW, PROCESS_TESTS],
          globalSetup: [TEMPORARY],
          testTimeout: 60_000,
          // No module keeps anything that a test could change: one process for many files saves a third of the time.
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          // These start agents, workers and commands as processes: half of the time of all unit tests. `npm test` runs
          // them, `npm run check` leaves them out.
          name: 'process',
          expect,
          include: [PROCESS_TESTS],
          exclude: SLOW,
          globalSetup: [TEMPORARY],
          testTimeout: 60_000,
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'server',
          expect,
          include: ['server/**/*.test.ts'],
          exclude: SLOW,
          // One PostgreSQL for the whole run; every file clones its migrated template.
          globalSetup: [TEMPORARY, 'server/test/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 180_000,
          // As above: what a test starts it gets from its own factories; reading the server's modules anew for each of 138
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
          exclude: SLOW,
          // One data directory with a migrated database for the whole run; most files start their servers on copies of it.
          globalSetup: [TEMPORARY, 'e2e/global-setup.ts'],
          setupFiles: ['e2e/setup.ts'],
          // As above: a process for each file loaded the browser's driver and our modules anew.
          isolate: false,
          // Each starts whole servers and a browser, and some look at times: after everything else.
          maxWorkers: WORKERS,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          // Emulated machines and installed packages: `npm test -- --all` runs them, `npm test` leaves them out.
          name: 'slow',
          expect,
          include: [SLOW_TESTS],
          exclude: ['**/node_modules/**'],
          env: { TMPDIR: DISK },
          setupFiles: ['e2e/setup.ts'],
          // These tests measure times: run one machine at a time.
          maxWorkers: 1,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
