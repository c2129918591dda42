import { isSea } from 'node:sea'
import pkg from '../../package.json' with { type: 'json' }
import { runAgent } from './agent.ts'
import { systemClock } from './clock.ts'
import { type AgentConfig, loadConfig, usage } from './config.ts'
import { releaseHost, restoreDefaults } from './enforcement/offline.ts'
import { AgentExit, cannotStart, type ExitCode, exitCodes } from './exit.ts'
import { createLog } from './log.ts'
import type { Environment, Platform, System } from './platform/platform.ts'
import { statusText } from './status.ts'
import { selectExecutable } from './update/installed.ts'
import { createUpdateRecord, noteEnd } from './update/record.ts'
import { builtInReleaseKey, createReleaseKey } from './update/release-key.ts'

/** Time limit for `--once`. An installer waits for it. */
const ONCE_LIMIT_MS = 30_000
/** Time limit for an orderly stop. */
const STOP_LIMIT_MS = 1500

/** Command line that starts this program again: an executable, or a script under this Node. */
const self = isSea() ? [process.execPath] : [process.execPath, ...process.execArgv, process.argv[1] ?? '']

/** Returns the path of the newest verified version for the launcher of a package. */
const select = ({ executable, stateDir, isEnded }: AgentConfig, architecture: string): string => {
  if (executable === undefined) return process.execPath
  return selectExecutable({
    executable,
    packaged: process.execPath,
    version: pkg.version,
    architecture,
    trusted: createReleaseKey({ builtIn: builtInReleaseKey(), stateDir }).trusted(),
    unproven: isEnded ? createUpdateRecord(stateDir).load() : undefined,
  })
}

/** Runs the agent until the signal is aborted, or until a command replaced it. */
const runUntil = async (
  config: AgentConfig,
  { system, platform, env }: { system: System; platform: Platform; env: Environment },
  stop: AbortController,
): Promise<void> => {
  let isLate = false
  const limit = config.once
    ? setTimeout(() => {
        isLate = true
        stop.abort()
      }, ONCE_LIMIT_MS)
    : undefined
  try {
    const end = await runAgent(
      {
        config,
        version: pkg.version,
        clock: systemClock,
        createLog: (dir) =>
          createLog({
            ...{ clock: systemClock, level: config.logLevel, dir },
            write(line) {
              process.stderr.write(line)
              platform.record?.(line)
            },
          }),
        self,
        system,
        platform,
        builtInKey: builtInReleaseKey(),
        executable: config.executable ?? (isSea() ? process.execPath : undefined),
      },
      stop.signal,
    )
    if (end === 'replaced' && !config.once)
      system.restart(config.launcher ?? config.executable ?? process.execPath, env)
  } catch (error) {
    if (!stop.signal.aborted || error instanceof AgentExit) throw error
  } finally {
    clearTimeout(limit)
  }
  if (isLate)
    throw cannotStart(`The agent completed no check-in within ${ONCE_LIMIT_MS / 1000} s. Read the log for the reason.`)
}

/**
 * Runs a command line of the agent.
 *
 * @param stop ends the agent if it is aborted
 * @throws AgentExit with the exit code and a message for the operator
 */
export const runProgram = async (
  argv: readonly string[],
  env: Environment,
  system: System,
  stop: AbortController,
): Promise<ExitCode> => {
  const config = loadConfig(argv, env, system)
  const platform = system.create(config.system)
  const { stateDir } = config
  if (config.command === 'help') process.stdout.write(usage(system))
  else if (config.command === 'version') process.stdout.write(`${pkg.version}\n`)
  else if (config.command === 'select') process.stdout.write(`${select(config, platform.architecture)}\n`)
  else if (config.command === 'status') process.stdout.write(statusText({ stateDir, system, platform }))
  else if (config.command === 'restore') {
    if (system.isAfterEnd(env) && noteEnd(stateDir)) process.stdout.write('The update was rolled back.\n')
    process.stdout.write(`${restoreDefaults({ stateDir, system, platform })}\n`)
  } else if (config.command === 'release')
    process.stdout.write(`${await releaseHost({ stateDir, system, platform })}\n`)
  else await runUntil(config, { system, platform, env }, stop)
  return exitCodes.ok
}

/** Runs the agent as a program that stops on signals. */
export const startProgram = (env: Environment, system: System): void => {
  const stop = new AbortController()
  const onSignal = (): void => {
    stop.abort()
    setTimeout(() => process.exit(exitCodes.ok), STOP_LIMIT_MS).unref()
  }
  process.once('SIGTERM', onSignal)
  process.once('SIGINT', onSignal)
  runProgram(process.argv.slice(2), env, system, stop).then(
    (code) => process.exit(code),
    (error: unknown) => {
      process.stderr.write(
        error instanceof AgentExit
          ? `portcullis-agent: ${error.message}\n`
          : `portcullis-agent: ${error instanceof Error ? error.stack : error}\n`,
      )
      process.exit(error instanceof AgentExit ? error.code : exitCodes.cannotStart)
    },
  )
}
