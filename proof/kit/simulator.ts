/** Runs the fleet simulator as a process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fromRoot } from './root.ts'
import type { ServerProcess } from './server.ts'

const enrolWithinMs = 300_000

/** Starts `agents` simulated hosts and waits until all are connected. `options` are those of the simulator. */
export const startSimulator = async (
  server: Pick<ServerProcess, 'url' | 'call' | 'signIn' | 'enrolmentToken'>,
  agents: number,
  options: Readonly<Record<string, number>>,
) => {
  const admin = await server.signIn()
  const given = {
    server: server.url,
    token: await server.enrolmentToken(agents, admin),
    agents,
    duration: 0,
    ...options,
  }
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(process.execPath, [fromRoot('cli/simulator/main.ts'), ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  let output = ''
  child.stdout.on('data', (text) => {
    output += String(text)
  })
  const ended = once(child, 'exit').then(() => process.removeListener('exit', kill))
  for (const end = performance.now() + enrolWithinMs; ; await pause(500)) {
    // On a busy machine, the enrolments may delay the page.
    const page = await server.call('/prime/webui/agents?PageSize=1&Status=Free', undefined, admin).catch(() => null)
    if (Number(page?.recordsFiltered) >= agents) break
    if (performance.now() < end && child.exitCode === null) continue
    kill()
    throw new Error(`${page?.recordsFiltered} of ${agents} hosts enrolled`)
  }
  return {
    kill,
    [Symbol.dispose]: kill,
    /** Stops the hosts and returns the summary that the simulator prints. */
    stop: async (): Promise<Record<string, number>> => {
      child.kill('SIGTERM')
      await ended
      return JSON.parse(output.trim().split('\n').at(-1) || '{}') as Record<string, number>
    },
  }
}
