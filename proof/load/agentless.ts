import { setTimeout as pause } from 'node:timers/promises'
import { type Installation, startServer } from '../kit/installation.ts'
import { cpuSecondsOf, ownWorkerOf } from '../kit/proc.ts'
import { sshFingerprint } from '../kit/ssh-hosts/host-key.ts'
import { bareSshMs, sshAddress, startSshHosts } from '../kit/ssh-hosts/index.ts'
import { atLeast, atMost, type Finding, figure, relative, round } from '../kit/verdict.ts'
import type { BenchResult, Settings } from './result.ts'

const base = '/prime/webui/agents/agentless'
/** Requirement: 10,000 hosts in ten minutes. */
const wantedPerSecond = 10_000 / 600

/** Polls simulated SSH hosts with the whole product: server, database and one worker, all on this machine. */
export const benchAgentless = async ({ databaseUrl, isQuick }: Settings): Promise<BenchResult> => {
  // Runs of `ssh host true` for the figure of the peer.
  const { hosts, peers } = isQuick ? { hosts: 500, peers: 10 } : { hosts: 10_000, peers: 50 }
  using sshHosts = await startSshHosts()
  await using server = await startServer({ databaseUrl })
  const first = await poll(server, sshHosts.port, hosts, true)
  const again = await poll(server, sshHosts.port, hosts, false)
  const bare = bareSshMs(sshHosts.port, peers)
  const figuresOf = (name: string, run: Awaited<ReturnType<typeof poll>>): Finding[] => [
    atLeast(`${name}: hosts per second`, round(hosts / run.seconds, 1), round(wantedPerSecond, 1), '/s'),
    relative(atMost(`${name}: worker, processor time per poll`, round(run.worker), round(bare), 'ms')),
    figure(`${name}: server, processor time per poll`, round(run.server), 'ms'),
    figure(`${name}: database, processor time per poll`, round(run.database), 'ms'),
  ]
  return {
    what: `${hosts} hosts of six devices, one worker; hosts, worker, server and database on this machine; peer: ${peers} runs of ssh host true`,
    findings: [
      ...figuresOf('first poll', first),
      ...figuresOf('again, nothing changed', again),
      figure('processor time of ssh host true', round(bare), 'ms'),
    ],
  }
}

/** Polls all hosts once and measures the time and the processor time. */
const poll = async (server: Installation, port: number, hosts: number, isFirst: boolean) => {
  const ask = async (path: string, body?: unknown, method?: string) =>
    server.call(path, body, await server.signIn(), method)
  const names = Array.from({ length: hosts }, (_, i) => sshAddress(i))
  const activate = async (isActivated: boolean): Promise<void> => {
    const { id } = await ask(`${base}/workerpollerdetails`)
    await ask(`${base}/workerpollerdetails/activatedstatus`, { id, isActivated }, 'PUT')
  }
  if (isFirst) {
    for (let at = 0; at < hosts; at += 2_000) {
      const connections = names.slice(at, at + 2_000).map((computerName, i) => ({
        computerName,
        port,
        userName: `host-${at + i}`,
        password: 'a password for benchmarks only',
        hostKeyFingerprint: sshFingerprint,
        intervalMinutes: 1_440,
      }))
      await ask(`${base}/connectiondetails`, { connections })
    }
    while ((await ask(`${base}/workerpollerdetails`)).id === null) await pause(200)
  } else {
    await activate(false)
    await ask(`${base}/registration`, { computerNames: names })
  }
  const worker = ownWorkerOf(server.pid)
  const before = { ...server.cpu(), worker: cpuSecondsOf(worker), at: performance.now() }
  await activate(true)
  for (;;) {
    await pause(250)
    const { due } = await ask(`${base}/workerpollerdetails`)
    if (due !== 0) continue
    const { recordsFiltered } = await ask(`${base}/connectiondetailsstatus?StatusString=Running&PageSize=1`)
    if (recordsFiltered === 0) break
  }
  const seconds = (performance.now() - before.at) / 1_000
  const after = { ...server.cpu(), worker: cpuSecondsOf(worker) }
  const { recordsFiltered } = await ask(`${base}/connectiondetailsstatus?StatusString=Success&PageSize=1`)
  if (recordsFiltered !== hosts) throw new Error(`${recordsFiltered} of ${hosts} hosts were polled`)
  const perPoll = (name: 'worker' | 'server' | 'database'): number => ((after[name] - before[name]) * 1_000) / hosts
  return { seconds, worker: perPoll('worker'), server: perPoll('server'), database: perPoll('database') }
}
