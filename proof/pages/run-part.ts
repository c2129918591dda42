/** Runs one part as a separate process and evaluates its results. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machine } from '../kit/machine.ts'
import { type Result, type Verdict, worstOf } from '../kit/verdict.ts'
import { commandOf, fleetSizes, type Part } from './parts.ts'
import { digestOf, git, type Run } from './results.ts'

const start = (root: string, args: readonly string[]): Promise<number | null> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal)
    process.on('SIGINT', forward)
    process.on('SIGTERM', forward)
    child.once('close', (code) => {
      process.removeListener('SIGINT', forward)
      process.removeListener('SIGTERM', forward)
      resolve(code)
    })
  })

/** Evaluates a run by its results and exit code. A missing result makes it incomplete. */
export const verdictOfRun = (
  { checks, isOfFleet }: Pick<Part, 'checks' | 'isOfFleet'>,
  form: Run['form'],
  code: number | null,
  results: readonly Result[],
): { verdict: Verdict; notRun: string[] } => {
  const wanted = isOfFleet && form === 'full' ? fleetSizes : [undefined]
  const missing = checks.flatMap((name) =>
    wanted
      .filter((size) => !results.some((one) => one.name === name && (size === undefined || one.agents === size)))
      .map((size) => (size === undefined ? name : `${name} at ${size.toLocaleString('en')} hosts`)),
  )
  const notRun = missing.map((name) => `${name}: no result (the process ended with ${code ?? 'a signal'})`)
  if (notRun.length === 0 && ![0, 1, 3].includes(code ?? -1))
    notRun.push(`The process ended with ${code ?? 'a signal'}.`)
  const verdict = worstOf(results.map((one) => one.verdict))
  return { verdict: verdict !== 'missed' && notRun.length > 0 ? 'incomplete' : verdict, notRun }
}

/** Runs a part on the present commit. */
export const runPart = async (root: string, part: Part, form: Run['form']): Promise<Run> => {
  const seed = randomInt(2 ** 31)
  const commit = git(root, 'rev-parse', 'HEAD') ?? ''
  const startedAt = performance.now()
  const date = new Date().toISOString()
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-proof-'))
  const file = join(folder, 'results.json')
  const { program, args } = commandOf(part, form === 'short')
  try {
    const code = await start(root, [program, ...args, '--seed', String(seed), '--json', file])
    const results = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result[]) : []
    return {
      form,
      commit,
      version: (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version,
      date,
      machine: machine(),
      command: `node ${[program, ...args].join(' ')}`,
      seed,
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      inputs: digestOf(root, commit, part),
      ...verdictOfRun(part, form, code, results),
      results,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
