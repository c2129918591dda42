/** The command line of drills, gates and benchmarks. */
import { randomInt } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { unlessInterrupted } from './interrupts.ts'
import { machine } from './machine.ts'
import { root } from './root.ts'
import { seedRandom } from './seeded-random.ts'
import {
  atMost,
  type Check,
  exitCodeOf,
  isMet,
  limitOf,
  type Outcome,
  type Result,
  resultOf,
  worstOf,
} from './verdict.ts'

type Values = Readonly<Record<string, string | boolean | undefined>>

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Formats the last line of a run: the number of passed checks and the names of all others. */
const summaryOf = (results: readonly Result[]): string => {
  const named = (verdict: Result['verdict']): string => {
    const names = results.filter((one) => one.verdict === verdict).map(({ name }) => name)
    return `${names.length} ${verdict}${names.length === 0 ? '' : ` (${names.join(', ')})`}`
  }
  const passed = results.filter(({ verdict }) => verdict === 'passed').length
  return `${worstOf(results.map((one) => one.verdict))}: ${passed} passed, ${named('missed')}, ${named('incomplete')}`
}

/** Writes machine-readable results. */
export const writeResults = (file: string, results: readonly Result[]): void => {
  mkdirSync(dirname(file), { recursive: true })
  // JSON has no infinity, so a missing figure becomes null.
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

/** Runs `work` and measures its seconds. An interrupted run never continues, because its results are invalid. */
export const attempt = async <T>(work: () => Promise<T>, failed: (error: Error) => T): Promise<[T, number]> => {
  const startedAt = performance.now()
  const result = await work().catch(failed).then(unlessInterrupted)
  return [result, Math.round((performance.now() - startedAt) / 100) / 10]
}

/**
 * Reads the arguments and starts the run. `options` are more options with a value. A run that ends without `end` exits
 * with code 3, even if something in it called `process.exit(0)`.
 */
export const openRun = (
  usage: string,
  names: readonly string[],
  { options = [], isValid = () => true }: { options?: readonly string[]; isValid?: (values: Values) => boolean } = {},
) => {
  const refuse = (why = ''): never => {
    process.stderr.write(`${why}${usage}\n`)
    process.exit(2)
  }
  const parse = () => {
    try {
      return parseArgs({
        options: {
          quick: { type: 'boolean' },
          help: { type: 'boolean', short: 'h' },
          ...Object.fromEntries(['seed', 'json', ...options].map((name) => [name, { type: 'string' }] as const)),
        },
        allowPositionals: true,
      })
    } catch (error) {
      return refuse(`${(error as Error).message}\n`)
    }
  }
  const { values, positionals } = parse() as { values: Values; positionals: string[] }
  if (values.help === true) {
    say(usage)
    process.exit(0)
  }
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
  if (positionals.some((name) => !names.includes(name)) || !Number.isSafeInteger(seed) || !isValid(values)) refuse()
  const reportMissingVerdict = (code: number): void => {
    process.stderr.write('incomplete: the run ended before its verdict\n')
    if (code === 0) process.exitCode = 3
  }
  process.once('exit', reportMissingVerdict)
  seedRandom(seed)
  process.stderr.write(`${machine()}; seed ${seed}\n`)
  const results: Result[] = []
  return {
    values,
    seed,
    isQuick: values.quick === true,
    chosen: names.filter((name) => positionals.length === 0 || positionals.includes(name)),
    /** Prints a result, and writes all so far: an interrupted run keeps them. */
    record: (result: Result, line: string): void => {
      results.push(result)
      if (typeof values.json === 'string') writeResults(values.json, results)
      say(line)
    },
    end: (): void => {
      say(summaryOf(results))
      process.removeListener('exit', reportMissingVerdict)
      process.exitCode = exitCodeOf(worstOf(results.map((one) => one.verdict)))
    },
  }
}

const lineOf = ({ name, what, verdict, seconds, seed, findings, notRun, notes }: Result): string =>
  JSON.stringify({
    ...{ check: name, verdict, seconds, seed },
    ...Object.fromEntries(findings.map((one) => [one.what, one.value])),
    limits: Object.fromEntries(findings.flatMap((one) => (limitOf(one) === '' ? [] : [[one.what, limitOf(one)]]))),
    missed: findings.filter((one) => !isMet(one)).map((one) => `${one.what} ${one.value}, limit ${limitOf(one)}`),
    ...{ notRun, notes, what },
  })

/** `npm run drill|gate -- [name…] [--quick] [--seed N] [--json FILE]`: prints one JSON line for each check. */
export const runChecks = async (title: string, checks: readonly Check[]): Promise<void> => {
  const ofDrills = title === 'Drills' ? ' [--minutes N] [--from RELEASE]' : ''
  const usage = `${title}. Usage: npm run ${title.toLowerCase().replace(/s$/, '')} -- [name…] [--quick] [--seed N] [--json FILE]${ofDrills}
Exit code: 0 passed, 1 a limit was missed, 2 wrong arguments, 3 incomplete (a part did not run).

${checks.map(({ name, what }) => `${name}\n    ${what}`).join('\n')}`
  const run = openRun(
    usage,
    checks.map(({ name }) => name),
    { options: ['minutes', 'from'], isValid: ({ minutes = 1 }) => Number(minutes) > 0 },
  )
  const { seed, isQuick, values } = run
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
  const settings = { isQuick, minutes, seed, root, ...(typeof values.from === 'string' ? { from: values.from } : {}) }
  const runNext = async (from: Check[]): Promise<void> => {
    for (let check = from.shift(); check !== undefined; check = from.shift()) {
      const { name, what } = check
      // Standard output contains only lines for programs.
      process.stderr.write(`${name} …\n`)
      const [outcome, seconds] = await attempt<Outcome>(
        () => (check as Check).run(settings),
        // A check that throws misses a limit.
        (error) => ({ findings: [atMost('ended with an error', 1, 0)], notes: [String(error.stack ?? error)] }),
      )
      const result = resultOf(name, what, outcome, { seconds, seed })
      run.record(result, lineOf(result))
    }
  }
  const chosen = checks.filter(({ name }) => run.chosen.includes(name))
  const paired = (check: Check): boolean => isQuick && check.isWaiting === true
  await runNext(chosen.filter((check) => !paired(check)))
  // Longer checks come later in the list. Start them first, so that none runs alone at the end.
  const waiting = chosen.filter(paired).reverse()
  await Promise.all([runNext(waiting), runNext(waiting), runNext(waiting)])
  run.end()
}
