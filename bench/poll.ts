import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Poll } from '@portcullis/contract'
import { POSIX_COMMAND } from '@portcullis/domain'
import { pollHost } from '../poller/src/poll.ts'
import { type BenchResult, percentile, round } from './result.ts'

/** 10,000 hosts in ten minutes. */
const wantedPerSecond = 10_000 / 600
const atOnce = 64

export interface PollBench {
  polls: number
  peers: number
}

/** Polls hosts of a farm as the worker does; beside it, what a bare `ssh host true` costs. */
export const benchPolls = async ({ polls, peers }: PollBench): Promise<BenchResult> => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-farm-'))
  writeFileSync(join(dir, 'answer'), execFileSync('sh', ['-c', POSIX_COMMAND], { maxBuffer: 16 * 1024 * 1024 }))
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'key')])
  const farm = spawn(process.execPath, [fileURLToPath(new URL('farm/farm.ts', import.meta.url)), join(dir, 'answer')], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  try {
    const port = await new Promise<number>((resolve) =>
      farm.stdout?.once('data', (text: Buffer) => resolve(Number(String(text)))),
    )
    const poll: Poll = {
      id: 'bench',
      fence: 1,
      isTest: false,
      host: '127.0.0.1',
      port,
      platform: null,
      userName: 'bench',
      password: 'bench',
      privateKey: null,
      passphrase: null,
      hostKeyFingerprint: null,
      limits: { connectMs: 30_000, totalMs: 60_000, outputBytes: 4 * 1024 * 1024 },
    }
    const never = new AbortController().signal
    const durations: number[] = []
    const some = async (count: number): Promise<void> => {
      let left = count
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (left-- > 0) {
            const result = await pollHost(poll, () => {}, never)
            if (result.failure !== null) throw new Error(`a poll failed: ${result.failure} ${result.message}`)
            durations.push(result.durationMs)
          }
        }),
      )
    }
    await some(atOnce)
    durations.length = 0
    const cpu = process.cpuUsage()
    const startedAt = performance.now()
    await some(polls)
    const seconds = (performance.now() - startedAt) / 1_000
    const { user, system } = process.cpuUsage(cpu)
    const perPoll = (user + system) / 1_000 / polls

    const options = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=QUIET']
    const times = execFileSync('sh', [
      '-c',
      `for i in $(seq ${peers}); do ssh ${options.join(' ')} -i ${join(dir, 'key')} -p ${port} bench@127.0.0.1 true >/dev/null; done; times`,
    ]).toString()
    // The second line of `times`: what children used, as `0m1.23s 0m0.45s`.
    const spent = [...(times.trim().split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)].reduce(
      (sum, [, minutes, rest]) => sum + Number(minutes) * 60_000 + Number(rest) * 1_000,
      0,
    )
    return {
      name: 'poll',
      conditions: `${polls} polls of a farm on this machine, ${atOnce} at a time; peer: ${peers} runs of ssh host true`,
      figures: [
        {
          what: 'polls per second, farm and worker on one machine',
          value: round(polls / seconds, 1),
          unit: '/s',
          limit: round(wantedPerSecond, 1),
          better: 'more',
        },
        {
          what: 'processor time of the worker per poll',
          value: round(perPoll),
          unit: 'ms',
          limit: spent / peers,
          better: 'less',
        },
        { what: 'processor time of ssh host true', value: spent / peers, unit: 'ms', better: 'less' },
        { what: 'duration of a poll, p50', value: percentile(durations, 0.5), unit: 'ms', better: 'less' },
      ],
    }
  } finally {
    farm.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}
