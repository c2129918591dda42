/** Runs `npm start -- --demo N`: a simulated fleet beside the server, which uses the agent protocol. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import type { Server } from '../compose.ts'

/** Departments of the simulated organisation with the tags of their hosts. */
const tagsOf: Readonly<Record<string, readonly string[]>> = {
  office: ['office'],
  engineering: ['engineering', 'laptop'],
  sales: ['sales', 'laptop'],
  finance: ['finance', 'restricted'],
  kiosk: ['kiosk', 'public area'],
  lab: ['lab', 'engineering'],
  server: ['server', 'data centre'],
}
/** Mostly Linux hosts, which can be armed. */
const mix = 'linux=80,windows=15,macos=5'
const checkInSeconds = 30
/** Devices attached or detached per second, over all hosts. */
const plugRate = 1
const stopMs = 5_000

const simulator = fileURLToPath(new URL('../../../cli/simulator/main.ts', import.meta.url))

/** Returns the number of hosts of `--demo N`; 0 without it. @throws StartError */
export const demoSize = (args: readonly string[]): number => {
  let text: string | undefined
  try {
    text = parseArgs({ args: [...args], options: { demo: { type: 'string' } } }).values.demo
  } catch (error) {
    throw new StartError(
      `${(error as Error).message}. The only valid option is --demo N. Settings are environment variables: see docs/reference/configuration.md.`,
    )
  }
  if (text === undefined) return 0
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1 || Number(text) > 100_000)
    throw new StartError(`--demo must be a whole number of hosts from 1 to 100000, not "${text}".`)
  return Number(text)
}

export interface DemoOptions {
  agents: Server['agents']
  url: string
  hosts: number
  /** Folder for the identities of the fleet, so that the next start shows the same hosts. */
  dataDir: string
  say(line: string): void
}

/** Starts the fleet; `stop` ends it and waits until it has ended. */
export const startDemo = async ({
  agents,
  url,
  hosts,
  dataDir,
  say,
}: DemoOptions): Promise<{ stop(): Promise<void> }> => {
  const tokens: string[] = []
  for (const [department, hashtags] of Object.entries(tagsOf)) {
    const { token } = await agents.createToken(systemActor('demo'), {
      name: `Demo: ${department}`,
      expiresInHours: 1,
      maxUses: hosts,
      hashtags: [...hashtags],
    })
    tokens.push('--token', `${department}=${token}`)
  }
  const args = [
    '--server',
    url,
    ...tokens,
    '--agents',
    String(hosts),
    '--interval',
    String(checkInSeconds),
    '--mix',
    mix,
  ]
  args.push('--plug-rate', String(plugRate), '--state', join(dataDir, 'demo-fleet.json'))
  // The ipc channel carries no data. It closes when this process is killed, and then the fleet ends.
  const child = spawn(process.execPath, [simulator, ...args], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let stopping = false
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      say(`Demo: cannot start: ${error.message}`)
      resolve()
    })
    child.once('exit', (code) => {
      if (!stopping) say(`Demo: the simulated fleet ended with code ${code}`)
      resolve()
    })
  })
  if (child.stderr !== null) createInterface(child.stderr).on('line', (line) => say(`Demo: ${line}`))
  return {
    stop: async () => {
      stopping = true
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
      await ended
      clearTimeout(timer)
    },
  }
}
