import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReleaseKeyFile } from '@portcullis/contract/agent-protocol.ts'
import { formatReleaseKeyFile } from '@portcullis/domain'
import { onTestFinished } from 'vitest'
import { nodeFlags } from '../src/node-flags.ts'
import { temporaryDir } from './harness.ts'

/** Path of the agent's entry. */
export const main = resolve(dirname(fileURLToPath(import.meta.url)), '../src/main.ts')
/** Path of the entry for macOS. */
export const macosMain = resolve(dirname(main), 'platform/macos/main.ts')
const builder = resolve(dirname(main), '../../scripts/build-agent.mjs')
export const env = { PATH: process.env.PATH ?? '' }

const { NODE_COMPILE_CACHE } = process.env
/** Compile cache of vitest.config.ts. Processes with a file size limit must not use it, because they would write partial files. */
const codeCache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }

/** Unit of `ulimit -f` in `sh`. */
export const FILE_BLOCK = 512

/** Returns a command with a file size limit. A write at the limit is partial, and the next one fails. */
export const withFileLimit = (blocks: number, program: readonly string[]): [string, string[]] => [
  'sh',
  ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', ...program],
]

/** Builds the agent as one script with a release key, or without one for null. The script is removed after the test. */
export const bundledAgent = (key: ReleaseKeyFile | null, entry = main): string => {
  const dir = temporaryDir()
  const file = join(dir, 'release-key.pub')
  if (key !== null) writeFileSync(file, formatReleaseKeyFile(key))
  const built = spawnSync(process.execPath, [builder, entry, join(dir, 'agent'), '--script-only'], {
    env: { ...codeCache, ...env, ...(key === null ? {} : { PORTCULLIS_RELEASE_KEY_FILE: file }) },
    encoding: 'utf8',
  })
  if (built.status !== 0) throw new Error(built.stderr)
  return join(dir, 'agent', 'agent.cjs')
}

/** Starts the agent as a process and kills it after the test. */
export const spawnAgent = (
  args: readonly string[],
  more: Record<string, string> = {},
  { fileBlocks, program: entry = main }: { fileBlocks?: number; program?: string } = {},
) => {
  const [program, all] =
    fileBlocks === undefined
      ? [process.execPath, [...nodeFlags, entry, ...args]]
      : withFileLimit(fileBlocks, [process.execPath, ...nodeFlags, entry, ...args])
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

/** Runs a command of the agent until it ends. */
export const runAgentCommand = (args: readonly string[], program = main) => {
  const done = spawnSync(process.execPath, [...nodeFlags, program, ...args], {
    env: { ...codeCache, ...env },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { code: done.status, output: done.stdout + done.stderr }
}
