import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** The agent's entry, run as it is. */
export const main = resolve(dirname(fileURLToPath(import.meta.url)), '../src/main.ts')
export const env = { PATH: process.env.PATH ?? '' }

/** The agent as a process of its own; it is killed with the test. */
export const spawnAgent = (args: readonly string[], more: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [main, ...args], {
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
