import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** The agent's entry, run as it is. */
export const main = resolve(dirname(fileURLToPath(import.meta.url)), '../src/main.ts')
export const env = { PATH: process.env.PATH ?? '' }

/** `sh` counts the size of files in blocks of 512 bytes. */
export const FILE_BLOCK = 512

/** A program whose files can not grow over so many blocks: a write up to there is cut, the next one fails. */
export const withFileLimit = (blocks: number, program: readonly string[]): [string, string[]] => [
  'sh',
  ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', ...program],
]

/** The agent as a process of its own; it is killed with the test. */
export const spawnAgent = (
  args: readonly string[],
  more: Record<string, string> = {},
  { fileBlocks }: { fileBlocks?: number } = {},
) => {
  const [program, all] =
    fileBlocks === undefined
      ? [process.execPath, [main, ...args]]
      : withFileLimit(fileBlocks, [process.execPath, main, ...args])
  const child = spawn(program, all, {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const exit = new Promise<number | null>((done) => child.on('exit', (code) => done(code)))
  return { child, exit, output: () => output }
}

export const killAgent = async (agent: { child: ChildProcess; exit: Promise<unknown> }) => {
  agent.child.kill('SIGKILL')
  await agent.exit
}

/** One of the agent's short commands, to its end. */
export const runAgentCommand = (args: readonly string[]) => {
  const done = spawnSync(process.execPath, [main, ...args], { env, encoding: 'utf8', timeout: 60_000 })
  return { code: done.status, output: done.stdout + done.stderr }
}
