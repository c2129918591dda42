/** The command line of drills and gates: one JSON line for each check, then their sum; code 1 when a bar is not met. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { unlessBrokenOff } from './leftovers.ts'
import { machine } from './machine.ts'
import { root } from './root.ts'
import { withSabotage } from './sabotage.ts'
import { type Check, type CheckSettings, type Finding, isMet, isPassed, type Outcome } from './verdict.ts'

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

interface Result {
  name: string
  what: string
  passed: boolean
  seconds: number
  outcome: Outcome
}

const short = (bar: number): number => Math.round(bar * 100) / 100
const barOf = ({ atMost, atLeast }: Finding): string =>
  [
    ...(atLeast === undefined ? [] : [`>= ${short(atLeast)}`]),
    ...(atMost === undefined ? [] : [`<= ${short(atMost)}`]),
  ].join(', ')

const sumOf = (results: readonly Result[]): string => {
  const failed = results.filter(({ passed }) => !passed).map(({ name }) => name)
  const sum = `${results.length - failed.length} passed, ${failed.length} not passed`
  return failed.length === 0 ? sum : `${sum}: ${failed.join(', ')}`
}

const runOne = async (check: Check, settings: CheckSettings): Promise<Result> => {
  const startedAt = performance.now()
  const outcome = await check
    .run(settings)
    .catch(
      (error: unknown): Outcome => ({
        findings: [{ what: 'ended with an error', value: 1, atMost: 0 }],
        notes: [String((error as Error).stack ?? error)],
      }),
    )
    .then(unlessBrokenOff)
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return { name: check.name, what: check.what, passed: isPassed(outcome), seconds, outcome }
}

const jsonOf = ({ name, what, passed, seconds, outcome }: Result): string =>
  JSON.stringify({
    check: name,
    passed,
    seconds,
    ...Object.fromEntries(outcome.findings.map((f) => [f.what, f.value])),
    bars: Object.fromEntries(outcome.findings.flatMap((f) => (barOf(f) === '' ? [] : [[f.what, barOf(f)]]))),
    notMet: outcome.findings.filter((f) => !isMet(f)).map((f) => `${f.what} ${f.value}, bar ${barOf(f)}`),
    notRun: outcome.notRun ?? [],
    notes: outcome.notes ?? [],
    what,
  })

const markdownOf = (title: string, results: readonly Result[], isQuick: boolean): string =>
  [
    `# ${title}`,
    '',
    `${isQuick ? 'Short form' : 'Full form'}, ${machine()}.`,
    `${sumOf(results)}.`,
    '',
    ...results.flatMap((result) => [
      `## ${result.name}: ${result.passed ? 'passed' : 'NOT PASSED'} (${result.seconds} s)`,
      '',
      result.what,
      '',
      '| figure | reached | bar |',
      '|---|---|---|',
      ...result.outcome.findings.map(
        (f) =>
          `| ${f.what} | ${f.value.toLocaleString('en')} ${f.unit ?? ''} | ${barOf(f)}${isMet(f) ? '' : ' **missed**'} |`,
      ),
      '',
      ...(result.outcome.notRun ?? []).map((line) => `- Not run: ${line}`),
      ...(result.outcome.notes ?? []).map((line) => `- ${line.split('\n')[0]}`),
      '',
    ]),
  ].join('\n')

const missedOf = ({ outcome }: Result): string[] => outcome.findings.filter((f) => !isMet(f)).map(({ what }) => what)

/**
 * Tries every sabotage of the checks; one that stays green is a red. What the product misses unbroken, on a slow machine
 * perhaps, says nothing of the sabotage: a bar has to be missed that is met without it.
 */
const testChecks = async (checks: readonly Check[], settings: CheckSettings): Promise<boolean> => {
  let isGood = true
  for (const check of checks.filter(({ sabotages = [] }) => sabotages.length > 0)) {
    const missedAnyway = missedOf(await runOne(check, { ...settings, isQuick: true }))
    for (const sabotage of check.sabotages ?? []) {
      const result = await withSabotage(sabotage, (broken) =>
        runOne(check, { ...settings, isQuick: true, root: broken }),
      )
      const { seconds, outcome } = result
      // A broken copy that does not even run would be red for the wrong reason.
      const missed = outcome.findings.filter((f) => !isMet(f))
      const newly = missedOf(result).filter((what) => !missedAnyway.includes(what))
      const isSeen =
        newly.length > 0 &&
        !newly.includes('ended with an error') &&
        (sabotage.red === undefined || newly.some((what) => what.includes(sabotage.red as string)))
      isGood &&= isSeen
      const red = missed.map((f) => `${f.what} ${f.value}`)
      say(
        JSON.stringify({
          selfTest: check.name,
          broken: sabotage.what,
          seen: isSeen,
          seconds,
          red,
          ...(isSeen ? {} : { notes: outcome.notes ?? [] }),
        }),
      )
    }
  }
  return isGood
}

const readArguments = (usage: string) => {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean' },
        minutes: { type: 'string' },
        from: { type: 'string' },
        'self-test': { type: 'boolean' },
        save: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}

/** `npm run drill|gate -- [name…] [--quick] [--minutes N] [--self-test] [--save FILE]`. */
export const runChecks = async (title: string, checks: readonly Check[]): Promise<void> => {
  const ofDrills = title === 'Drills' ? ' [--minutes N] [--from RELEASE]' : ''
  const command = `npm run ${title.toLowerCase().replace(/s$/, '')}`
  const usage = `Usage: ${command} -- [name…] [--quick] [--self-test] [--save FILE]${ofDrills}\n`
  const { values, positionals } = readArguments(usage)
  if (values.help === true) {
    say(`${title}. ${usage}\n${checks.map(({ name, what }) => `${name}\n    ${what}`).join('\n')}`)
    return
  }
  const unknown = positionals.filter((name) => !checks.some((check) => check.name === name))
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
  if (unknown.length > 0 || (minutes !== undefined && !(minutes > 0))) {
    process.stderr.write(`${usage}Names: ${checks.map(({ name }) => name).join(', ')}\n`)
    process.exit(2)
  }
  const chosen = positionals.length === 0 ? checks : checks.filter(({ name }) => positionals.includes(name))
  const from = values.from === undefined ? {} : { from: values.from }
  const settings = { isQuick: values.quick === true, minutes, root, ...from }
  if (values['self-test'] === true) {
    process.exitCode = (await testChecks(chosen, settings)) ? 0 : 1
    return
  }
  const results: Result[] = []
  const runNext = async (from: Check[]): Promise<void> => {
    for (let check = from.shift(); check !== undefined; check = from.shift()) {
      // Lines for programs are on standard output alone.
      process.stderr.write(`${check.name} …\n`)
      const result = await runOne(check, settings)
      results.push(result)
      say(jsonOf(result))
      // With each result, so that a run that is broken off has told what it found.
      if (values.save !== undefined) {
        const inOrder = chosen.flatMap(({ name }) => results.filter((one) => one.name === name))
        mkdirSync(dirname(values.save), { recursive: true })
        writeFileSync(values.save, markdownOf(title, inOrder, settings.isQuick))
      }
    }
  }
  const beside = (check: Check): boolean => settings.isQuick && check.isWaiting === true
  await runNext(chosen.filter((check) => !beside(check)))
  // The long ones are the later ones: at the end none is left alone.
  const waiting = chosen.filter(beside).reverse()
  await Promise.all([runNext(waiting), runNext(waiting), runNext(waiting)])
  say(sumOf(results))
  process.exitCode = results.every(({ passed }) => passed) ? 0 : 1
}
