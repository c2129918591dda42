/** Rotates the command key under load, with real agent processes and simulated hosts. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describeSysfs, plainKeyboard } from '@portcullis/domain/testing'
import { temporaryFolder } from '../kit/database.ts'
import { pause, startTrial } from '../kit/trial.ts'
import type { Check, Outcome } from '../kit/verdict.ts'

const simulated = 32
const api = '/prime/webui'

/** Creates an agent process that reads a directory of files instead of the kernel's sysfs. */
const createAgent = (root: string, folder: string, url: string, token: string) => {
  const [stateDir, sysfs, tokenFile] = ['state', 'sys', 'token'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const [path, content] of describeSysfs([plainKeyboard({ portPath: '1-1' })])) {
    mkdirSync(dirname(join(sysfs, path)), { recursive: true })
    writeFileSync(join(sysfs, path), content)
  }
  writeFileSync(tokenFile, token, { mode: 0o600 })
  // Without their own machine ids, all agents would be this one machine, and each enrolment would replace the last.
  const etc = join(folder, 'etc')
  mkdirSync(etc)
  writeFileSync(join(etc, 'machine-id'), randomBytes(16).toString('hex'))
  writeFileSync(join(etc, 'hostname'), `agent-${randomBytes(4).toString('hex')}`)
  let child: ChildProcess | undefined
  const read = (name: string): Record<string, unknown> => {
    try {
      return JSON.parse(readFileSync(join(stateDir, name), 'utf8')) as Record<string, unknown>
    } catch {
      return {}
    }
  }
  const agent = {
    start: (): void => {
      const args = ['--server', url, '--token-file', tokenFile, '--state-dir', stateDir, '--sysfs-root', sysfs]
      child = spawn(
        process.execPath,
        [join(root, 'agent/src/main.ts'), ...args, '--etc-root', etc, '--monitor-command', 'none'],
        {
          env: { PATH: process.env.PATH ?? '' },
          stdio: 'ignore',
        },
      )
    },
    stop: async (): Promise<void> => {
      const ending = child
      child = undefined
      if (ending === undefined || ending.exitCode !== null) return
      const ended = new Promise((resolve) => ending.once('exit', resolve))
      ending.kill('SIGTERM')
      await ended
    },
    id: (): string => String(read('identity.json').agentId ?? ''),
    /** Number of the command key that the agent holds. */
    key: (): number => Number(read('identity.json').commandKeyNumber ?? 0),
    isArmed: (): boolean =>
      read('enforcement.json').mode === 'Armed' &&
      readFileSync(join(sysfs, 'bus/usb/devices/usb1/authorized_default'), 'utf8').trim() === '0',
  }
  return agent
}

const within = async (what: string, isMet: () => boolean | Promise<boolean>, ms = 60_000): Promise<number> => {
  const startedAt = performance.now()
  while (!(await isMet())) {
    if (performance.now() - startedAt > ms) throw new Error(`Timed out after ${ms} ms: ${what}`)
    await pause(50)
  }
  return performance.now() - startedAt
}

export const rotateCommandKey: Check = {
  name: 'rotate-command-key',
  isWaiting: true,
  what: `The command key is rotated on the command line while ${simulated} simulated hosts of a release without rotations report and agent processes are armed. No report fails, and armed hosts stay armed and obey. Every agent follows the rotation in its next session, and one that was offline during three rotations follows all of them. A forged rotation is refused.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const folder = temporaryFolder('command-key')
    const trial = await startTrial({ name: 'rotated', root, hosts: simulated })
    const agents: ReturnType<typeof createAgent>[] = []
    try {
      const server = trial.server()
      const admin = await server.signIn()
      const { token } = await server.call(`${api}/agents/enrollmenttokens`, { name: 'drill', maxUses: 100 }, admin)
      for (let i = 0; i < (isQuick ? 3 : 8); i++)
        agents.push(createAgent(root, join(folder, String(i)), server.url, String(token)))
      for (const agent of agents) agent.start()
      await within('every agent is enrolled', () => agents.every((agent) => agent.id() !== ''))
      const order = async (mode: 'ARM' | 'free') => {
        for (const agent of agents)
          await server.call(
            `${api}/agents/configuration`,
            [
              {
                uuid: agent.id(),
                hostIdentifier: null,
                ipAddress: null,
                agentConfigViewResource: { isSystemArmed: mode },
              },
            ],
            await server.signIn(),
          )
      }
      await order('ARM')
      await within('every agent is armed', () => agents.every((agent) => agent.isArmed()))
      trial.run(20)

      let samples = 0
      let freed = 0
      const sampling = setInterval(() => {
        samples++
        freed += agents.filter((agent) => !agent.isArmed()).length
      }, 20)
      const keyFile = join(trial.dataDir, 'portcullis.key')
      const rotate = async (...more: string[]): Promise<void> => {
        await promisify(execFile)(process.execPath, [join(root, 'cli/src/main.ts'), 'command-key', 'rotate', ...more], {
          cwd: root,
          env: {
            PATH: process.env.PATH ?? '',
            DATABASE_URL: trial.databaseUrl,
            PORTCULLIS_DATA_DIR: trial.dataDir,
          },
        })
      }
      const restart = async (some: typeof agents): Promise<void> => {
        // A session lasts an hour; a restart opens a new one. Sampling ends here, because a stopped agent restores the
        // defaults.
        clearInterval(sampling)
        for (const agent of some) await agent.stop()
        for (const agent of some) agent.start()
      }
      await rotate()
      await pause(2_000)
      const armedMidSession = agents.filter((agent) => agent.isArmed()).length
      await restart(agents)
      const learnedMs = await within('every agent holds the new key', () => agents.every((agent) => agent.key() === 1))
      await within('every agent is armed again', () => agents.every((agent) => agent.isArmed()))

      // This agent misses three rotations. The last one keeps no former key, as after a month.
      const away = agents[0] as (typeof agents)[number]
      await away.stop()
      await rotate()
      await rotate()
      await rotate('--keep-days', '0')
      const genuine = readFileSync(keyFile, 'utf8')
      const forged = JSON.parse(genuine) as { commandKeys: { signature: string }[] }
      const second = forged.commandKeys[2] as { signature: string }
      second.signature = (forged.commandKeys[1] as { signature: string }).signature
      writeFileSync(keyFile, JSON.stringify(forged))
      away.start()
      await pause(5_000)
      const heldWhenForged = away.key()
      await away.stop()
      writeFileSync(keyFile, genuine)
      away.start()
      const followedMs = await within('the agent that was stopped holds the newest key', () => away.key() === 4)
      await restart(agents.slice(1))
      await within('all agents hold the newest key', () => agents.every((agent) => agent.key() === 4))
      await order('free')
      const obeyedMs = await within('all agents obey the newest key', () => agents.every((agent) => !agent.isArmed()))
      const failed = trial.fleet.reduce((sum, { reported }) => sum + reported.refused.length, 0)
      const { findings, notes } = await trial.settle()
      return {
        findings: [
          ...findings,
          { what: 'refused reports of hosts before rotations', value: failed, atMost: 0 },
          { what: 'looks at armed hosts during the rotation', value: samples, atLeast: 20 },
          { what: 'armed hosts that were free in one of them', value: freed, atMost: 0 },
          { what: 'armed in the middle of their session', value: armedMidSession, atLeast: agents.length },
          { what: 'agents that took the new key over', value: agents.length, atLeast: 3 },
          { what: 'all within, from their next session', value: Math.round(learnedMs), unit: 'ms', atMost: 60_000 },
          { what: 'keys taken over from a forged rotation', value: heldWhenForged - 1, atMost: 0 },
          { what: 'followed three rotations within', value: Math.round(followedMs), unit: 'ms', atMost: 60_000 },
          { what: 'obeyed the newest key within', value: Math.round(obeyedMs), unit: 'ms', atMost: 60_000 },
        ],
        notes,
      }
    } finally {
      for (const agent of agents) await agent.stop()
      await trial.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
