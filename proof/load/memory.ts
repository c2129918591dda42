/** Measures the memory of agent, server and database when nothing happens. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describeSysfs, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { temporaryFolder } from '../kit/database.ts'
import { memoryOfTree } from '../kit/proc.ts'
import { fromRoot } from '../kit/root.ts'
import type { ServerProcess } from '../kit/server.ts'
import { startSimulator } from '../kit/simulator.ts'
import { atMost, figure, round } from '../kit/verdict.ts'
import { copyProgram, createProduction } from './production.ts'
import type { BenchResult, Settings } from './result.ts'

const hosts = 1_000
const megabytes = (bytes: number): number => round(bytes / 1e6, 1)

/** Writes a copy of a kernel's USB devices and files that identify a host. */
const writeHost = (folder: string): string[] => {
  for (const [path, content] of describeSysfs([
    plainKeyboard({ portPath: '1-1' }),
    storageStick({ portPath: '1-2' }),
  ])) {
    mkdirSync(dirname(join(folder, 'sys', path)), { recursive: true })
    writeFileSync(join(folder, 'sys', path), content)
  }
  mkdirSync(join(folder, 'etc'))
  writeFileSync(join(folder, 'etc', 'machine-id'), randomBytes(16).toString('hex'))
  return ['--sysfs-root', join(folder, 'sys'), '--etc-root', join(folder, 'etc')]
}

const startAgent = (program: string, folder: string, url: string, tokenFile: string): ChildProcess =>
  spawn(
    copyProgram(program, folder, 'agent'),
    [
      ...['--server', url, '--token-file', tokenFile, '--state-dir', join(folder, 'state')],
      ...['--monitor-command', 'none', '--notify-command', 'none', ...writeHost(folder)],
    ],
    { stdio: 'ignore' },
  )

export const benchMemory = async ({ isQuick }: Settings): Promise<BenchResult> => {
  const idleSeconds = isQuick ? 60 : 300
  const program = fromRoot(`build/agent/portcullis-agent-linux-${process.arch}`)
  const folder = temporaryFolder('memory')
  const tokenFile = join(folder, 'token')
  let agent: ChildProcess | undefined
  let simulator: Awaited<ReturnType<typeof startSimulator>> | undefined
  let server: ServerProcess | undefined
  try {
    server = (await (await createProduction(folder)).start()).server
    writeFileSync(tokenFile, await server.enrolmentToken(1), { mode: 0o600 })
    agent = existsSync(program) ? startAgent(program, folder, server.url, tokenFile) : undefined
    simulator = await startSimulator(server, hosts, { wake: hosts, interval: 60, 'plug-rate': 0 })
    await setTimeout(idleSeconds * 1_000)
    if (agent !== undefined && agent.exitCode !== null) throw new Error(`the agent exited with code ${agent.exitCode}`)
    const ofAgent = agent === undefined ? undefined : memoryOfTree(agent.pid as number)
    const isDatabase = (command: string): boolean => /^postgres: |\/bin\/postgres /.test(command)
    const isWorker = (command: string): boolean => command.includes('poller/src/main.ts')
    const database = memoryOfTree(server.pid, isDatabase)
    const worker = memoryOfTree(server.pid, isWorker)
    const own = memoryOfTree(server.pid, (command) => !isDatabase(command) && !isWorker(command))
    const parts = `${own.processes + worker.processes} processes of the server, ${database.processes} of PostgreSQL`
    return {
      what: `Pss ${idleSeconds} s after ${hosts} hosts connected, each with a wake socket and a check-in per minute; ${parts}; nobody is signed in`,
      findings: [
        ...(ofAgent === undefined
          ? []
          : [
              atMost(
                'agent, idle',
                megabytes(ofAgent.total),
                60,
                'MB',
                `${megabytes(ofAgent.anonymous)} MB of it without a file`,
              ),
            ]),
        atMost('server and PostgreSQL, idle', megabytes(own.total + worker.total + database.total), 350, 'MB'),
        figure('server', megabytes(own.total), 'MB'),
        figure('agentless worker', megabytes(worker.total), 'MB'),
        figure('PostgreSQL', megabytes(database.total), 'MB'),
      ],
      notRun: ofAgent === undefined ? [`agent: ${program} does not exist`] : [],
    }
  } finally {
    agent?.kill('SIGKILL')
    simulator?.kill()
    await server?.end()
  }
}
