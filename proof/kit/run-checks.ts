/** The command line of drills and gates: prints one JSON line for each check, then a summary. */
import { randomInt } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { seedChance } from './chance.ts'
import { unlessBrokenOff } from './leftovers.ts'
import { machine } from './machine.ts'
import { root } from './root.ts'
import {
  barOf,
  type Check,
  type CheckSettings,
  exitCodeOf,
  isMet,
  type Outcome,
  type Result,
  verdictOf,
  worstOf,
} from './verdict.ts'

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** Formats the last line of a run: the number of passed checks and the names of all others. */
export const sumOf = (results: readonly Pick<Result, 'name' | 'verdict'>[]): string => {
  const named = (verdict: Result['verdict']): string => {
    const names = results.filter((one) => one.verdict === verdict).map(({ name }) => name)
    return `${names.length} ${verdict}${names.length === 0 ? '' : ` (${names.join(', ')})`}`
  }
  const passed = results.filter(({ verdict }) => verdict === 'passed').length
  return `${passed} passed, ${named('missed')}, ${named('incomplete')}`
}

/** Runs one check. A check that throws misses a bar. */
const runOne = async (check: Check, settings: CheckSettings): Promise<Result> => {
  const startedAt = performance.now()
  const {
    findings,
    notRun = [],
    notes = [],
  } = await check
    .run(settings)
    .catch(
      (error: unknown): Outcome => ({
        findings: [{ what: 'ended with an error', value: 1, atMost: 0 }],
        notes: [String((error as Error).stack ?? error)],
      }),
    )
    .then(unlessBrokenOff)
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  const verdict = verdictOf({ findings, notRun })
  return { name: check.name, what: check.what, verdict, seconds, seed: settings.seed, findings, notRun, notes }
}

const jsonOf = ({ name, what, verdict, seconds, seed, findings, notRun, notes }: Result): string =>
  JSON.stringify({
    check: name,
    verdict,
    seconds,
    seed,
    ...Object.fromEntries(findings.map((f) => [f.what, f.value])),
    bars: Object.fromEntries(findings.flatMap((f) => (barOf(f) === '' ? [] : [[f.what, barOf(f)]]))),
    missed: findings.filter((f) => !isMet(f)).map((f) => `${f.what} ${f.value}, bar ${barOf(f)}`),
    notRun,
    notes,
    what,
  })

/**
 * Makes a run that ends without a verdict exit with code 3, even if something in it called `process.exit(0)`. Call the
 * returned function with the verdict.
 */
export const incompleteUntil = (): ((verdict: Result['verdict']) => void) => {
  const reportMissingVerdict = (code: number): void => {
    process.stderr.write('incomplete: the run ended before its verdict\n')
    if (code === 0) process.exitCode = 3
  }
  process.once('exit', reportMissingVerdict)
  return (verdict) => {
    process.removeListener('exit', reportMissingVerdict)
    process.exitCode = exitCodeOf(verdict)
  }
}

/** Writes machine-readable results. An interrupted run keeps its results so far. */
export const writeResults = (file: string | undefined, results: readonly Result[]): void => {
  if (file === undefined) return
  mkdirSync(dirname(file), { recursive: true })
  // JSON has no infinity, so a missing figure becomes null.
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

const readArguments = (usage: string) => {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean' },
        minutes: { type: 'string' },
        from: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}

/** `npm run drill|gate -- [name…] [--quick] [--seed N] [--json FILE]`. */
export const runChecks = async (title: string, checks: readonly Check[]): Promise<void> => {
  const ofDrills = title === 'Drills' ? ' [--minutes N] [--from RELEASE]' : ''
  const command = `npm run ${title.toLowerCase().replace(/s$/, '')}`
  const usage = `Usage: ${command} -- [name…] [--quick] [--seed N] [--json FILE]${ofDrills}
Exit code: 0 passed, 1 a bar was missed, 2 wrong arguments, 3 incomplete (a part did not run).
`
  const { values, positionals } = readArguments(usage)
  if (values.help === true) {
    say(`${title}. ${usage}\n${checks.map(({ name, what }) => `${name}\n    ${what}`).join('\n')}`)
    return
  }
  const unknown = positionals.filter((name) => !checks.some((check) => check.name === name))
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
  if (unknown.length > 0 || (minutes !== undefined && !(minutes > 0)) || !Number.isSafeInteger(seed)) {
    process.stderr.write(`${usage}Names: ${checks.map(({ name }) => name).join(', ')}\n`)
    process.exit(2)
  }
  const chosen = positionals.length === 0 ? checks : checks.filter(({ name }) => positionals.includes(name))
  const from = values.from === undefined ? {} : { from: values.from }
  const settings = { isQuick: values.quick === true, minutes, seed, root, ...from }
  const finish = incompleteUntil()
  seedChance(seed)
  process.stderr.write(`${machine()}; seed ${seed}\n`)
  const results: Result[] = []
  const runNext = async (from: Check[]): Promise<void> => {
    for (let check = from.shift(); check !== undefined; check = from.shift()) {
      // Standard output contains only lines for programs.
      process.stderr.write(`${check.name} …\n`)
      const result = await runOne(check, settings)
      results.push(result)
      say(jsonOf(result))
      writeResults(
        values.json,
        chosen.flatMap(({ name }) => results.filter((one) => one.name === name)),
      )
    }
  }
  const paired = (check: Check): boolean => settings.isQuick && check.isWaiting === true
  await runNext(chosen.filter((check) => !paired(check)))
  // Longer checks come later in the list. Start them first, so that none runs alone at the end.
  const waiting = chosen.filter(paired).reverse()
  await Promise.all([runNext(waiting), runNext(waiting), runNext(waiting)])
  const verdict = worstOf(results.map((one) => one.verdict))
  say(`${verdict}: ${sumOf(results)}`)
  finish(verdict)
}
