/** Runs one part as a separate process and evaluates its results. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machine } from '../../rig/machine.ts'
import { type Result, type Verdict, worstOf } from '../../rig/verdict.ts'
import { absentFigures } from './absent.ts'
import { devicesResult } from './devices.ts'
import { commandOf, type Part, whyNotRun } from './parts.ts'
import { type Bar, readBars } from './read-bars.ts'
import { digestOf, type Form, type Run } from './store.ts'
import { readTree } from './tree.ts'

interface Ended {
  code: number | null
  output: string
}

const start = (root: string, args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal)
    process.on('SIGINT', forward)
    process.on('SIGTERM', forward)
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.once('close', (code) => {
      process.removeListener('SIGINT', forward)
      process.removeListener('SIGTERM', forward)
      resolve({ code, output })
    })
  })

/** Evaluates a run by its results and exit code. Missing results and missing figures make it incomplete. */
export const judgeRun = (
  { expected, page }: Pick<Part, 'expected' | 'page'>,
  code: number | null,
  results: readonly Result[],
  bars: readonly Bar[] = [],
): { verdict: Verdict; notRun: string[] } => {
  const missing = expected.filter((name) => !results.some((one) => one.name === name))
  const notRun = missing.map((name) => `${name}: no result (the process ended with ${code ?? 'a signal'})`)
  // The other results already list what did not run.
  for (const result of results)
    if (result.verdict === 'passed' || result.verdict === 'measured')
      for (const figure of absentFigures(bars, page, result))
        notRun.push(`${result.name}: the figure "${figure}" is missing`)
  const verdict = worstOf(results.map((one) => one.verdict))
  const isClean = code === 0 || code === 1 || code === 3
  if (!isClean && notRun.length === 0) notRun.push(`the process ended with ${code ?? 'a signal'}`)
  return { verdict: verdict !== 'missed' && notRun.length > 0 ? 'incomplete' : verdict, notRun }
}

/** Runs a part. Returns undefined if the sources changed during the run, because the figures then belong to no tree. */
export const runPart = async (root: string, part: Part, form: Form): Promise<Run | undefined> => {
  const seed = randomInt(2 ** 31)
  const tree = readTree(root)
  const startedAt = performance.now()
  const date = new Date().toISOString()
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-proof-'))
  const file = join(folder, 'results.json')
  try {
    const why = whyNotRun(part, root)
    let results: Result[] = []
    let judged: { verdict: Verdict; notRun: string[] } = {
      verdict: 'incomplete',
      notRun: why === undefined ? [] : [why],
    }
    if (why === undefined && part.page === 'devices') {
      const { code, output } = await start(root, [part.program, '--json'])
      results = devicesResult(code, output)
      judged = judgeRun(part, code, results)
    } else if (why === undefined) {
      const quick = form === 'short' ? ['--quick'] : []
      const args = [part.program, ...part.args, ...quick, '--seed', String(seed), '--json', file]
      const { code } = await start(root, args)
      if (existsSync(file)) results = JSON.parse(readFileSync(file, 'utf8')) as Result[]
      judged = judgeRun(part, code, results, readBars(root))
    }
    if (readTree(root).hash !== tree.hash) return undefined
    const run = {
      tree: tree.hash,
      commit: tree.commit,
      machine: machine(),
      date,
      command: commandOf(part, form, seed),
      seed,
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      ...judged,
      results,
    }
    return { ...run, digest: digestOf(part.name, form, run) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
