import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReleaseKeyFile } from '@portcullis/contract/agent-protocol'
import { formatReleaseKeyFile } from '@portcullis/domain'
import { onTestFinished } from 'vitest'
import { temporaryDir } from './harness.ts'

/** The agent's entry, run as it is. */
export const main = resolve(dirname(fileURLToPath(import.meta.url)), '../src/main.ts')
const builder = resolve(dirname(main), '../../scripts/build-agent.mjs')
export const env = { PATH: process.env.PATH ?? '' }

const { NODE_COMPILE_CACHE } = process.env
/** Where vitest.config.ts keeps compiled code. Not for processes whose files are limited: they would fill it up to there. */
const codeCache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }

/** `sh` counts the size of files in blocks of 512 bytes. */
export const FILE_BLOCK = 512

/** A program whose files cannot grow over so many blocks: a write up to there is cut, the next one fails. */
export const withFileLimit = (blocks: number, program: readonly string[]): [string, string[]] => [
  'sh',
  ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', ...program],
]

/** The agent as the build makes it, as one script with this release key inside; null: built without one. Goes with the test. */
export const bundledAgent = (key: ReleaseKeyFile | null): string => {
  const dir = temporaryDir()
  const file = join(dir, 'release-key.pub')
  if (key !== null) writeFileSync(file, formatReleaseKeyFile(key))
  const built = spawnSync(process.execPath, [builder, main, join(dir, 'agent'), '--script-only'], {
    env: { ...codeCache, ...env, ...(key === null ? {} : { PORTCULLIS_RELEASE_KEY_FILE: file }) },
    encoding: 'utf8',
  })
  if (built.status !== 0) throw new Error(built.stderr)
  return join(dir, 'agent', 'agent.cjs')
}

/** The agent as a process of its own; it is killed with the test. */
export const spawnAgent = (
  args: readonly string[],
  more: Record<string, string> = {},
  { fileBlocks, program: entry = main }: { fileBlocks?: number; program?: string } = {},
) => {
  const [program, all] =
    fileBlocks === undefined
      ? [process.execPath, [entry, ...args]]
      : withFileLimit(fileBlocks, [process.execPath, entry, ...args])
  const child = spawn(program, all, {
    env: { ...(fileBlocks === undefined ? codeCache : {}), ...env, ...more },
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
export const runAgentCommand = (args: readonly string[], program = main) => {
  const done = spawnSync(process.execPath, [program, ...args], {
    env: { ...codeCache, ...env },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { code: done.status, output: done.stdout + done.stderr }
}
