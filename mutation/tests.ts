/** Runs test files repeatedly in one process: only the first run starts a database and reads all sources. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createVitest, type Vitest } from 'vitest/node'

/** One run of a test file, or of its tests with one of these names. */
export interface Run {
  test: string
  named: readonly string[]
  /** Absolute paths of sources that changed since the previous run. */
  changed: readonly string[]
}

export interface Ran {
  /** `none`: no test has one of these names. */
  outcome: 'passed' | 'failed' | 'none'
  /** The first test that failed, with its message. */
  failure: string
}

/** A test that does not end within this time counts as failed: the mutant blocks it. */
const mostMs = 3 * 60_000
const escaped = (name: string): string => name.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')
const projectOf = (test: string): string =>
  /\.(slow|process)\.test\.ts$/.exec(test)?.[1] ?? /^(server|e2e)\//.exec(test)?.[1] ?? 'unit'
const firstLine = (text: string): string => text.split('\n')[0] ?? ''

const start = async (project: string): Promise<Vitest> => {
  // Without `bail`, because its cancellation may affect the next run.
  const options = { watch: true, project: [project], reporters: [{}], maxWorkers: 1, fsModuleCache: false }
  const vitest = await createVitest('test', options, { server: { watch: null } })
  await vitest.standalone()
  return vitest
}

const runTests = async (vitest: Vitest, { test, named, changed }: Run): Promise<Ran> => {
  for (const path of changed) vitest.invalidateFile(path)
  const found = (await vitest.globTestSpecifications([test])).filter(({ moduleId }) => moduleId.endsWith(test))
  const testNamePattern = new RegExp(named.map(escaped).join('|'))
  // A pattern for the whole program would also apply to later runs.
  const specifications = found.map(({ project, moduleId }) =>
    project.createSpecification(moduleId, { testNamePattern }),
  )
  const result = await vitest.runTestSpecifications(specifications)
  const { unhandledErrors } = result
  // The result also contains the modules of earlier runs.
  const testModules = result.testModules.filter(({ moduleId }) => moduleId.endsWith(test))
  const tests = testModules.flatMap((module) => [...module.children.allTests()])
  const failed = tests.find((one) => one.result().state === 'failed')
  const messages = [
    ...(failed?.result().errors ?? []).map((error) => error.message),
    ...testModules.flatMap((module) => module.errors().map((error) => error.message)),
    ...unhandledErrors.map(String),
  ]
  const hasPassed = messages.length === 0 && testModules.every((module) => module.ok())
  if (!hasPassed)
    return { outcome: 'failed', failure: firstLine(`${failed?.name ?? 'outside the tests'}: ${messages[0] ?? ''}`) }
  return { outcome: tests.some((one) => one.result().state === 'passed') ? 'passed' : 'none', failure: '' }
}

/** Creates a runner for the tests in `tree`, a copy of the checkout. */
export const createTestRunner = (tree: string) => {
  const begin = () =>
    fork(fileURLToPath(import.meta.url), ['serve'], {
      cwd: tree,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // A separate process group, because a test that never ends runs in a child process.
      detached: true,
    })
  let child = begin()
  return {
    run: async (run: Run): Promise<Ran> => {
      const over = new AbortController()
      const signal = AbortSignal.any([over.signal, AbortSignal.timeout(mostMs)])
      const answered = once(child, 'message', { signal }).then(([answer]) => answer as Ran)
      const ended = once(child, 'exit', { signal }).then((): Ran => ({ outcome: 'failed', failure: 'the run ended' }))
      child.send(run)
      const ran = await Promise.race([answered, ended]).catch(
        (): Ran => ({ outcome: 'failed', failure: 'the run hung' }),
      )
      const isLost = signal.aborted || child.exitCode !== null
      over.abort()
      await Promise.allSettled([answered, ended])
      if (isLost) {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
        child = begin()
      }
      return ran
    },
    close: async (): Promise<void> => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

if (process.argv[2] === 'serve') {
  const started = new Map<string, Promise<Vitest>>()
  process.on('message', async (run: Run) => {
    const project = projectOf(run.test)
    const vitest = started.get(project) ?? start(project)
    started.set(project, vitest)
    process.send?.(await runTests(await vitest, run))
  })
  process.once('disconnect', async () => {
    for (const vitest of started.values()) await (await vitest).close()
    process.exit()
  })
}
