import type { Poll } from '@portcullis/contract'
import { pollHost } from '../../poller/src/poll.ts'
import { farmFingerprint } from '../kit/farm/host-key.ts'
import { bareSshMs, farmAddress, startFarm } from '../kit/farm/index.ts'
import { type BenchResult, percentile, round } from './result.ts'

/** Requirement: 10,000 hosts in ten minutes. */
const wantedPerSecond = 10_000 / 600
const atOnce = 64

export interface PollBench {
  polls: number
  peers: number
}

/** Polls hosts of a farm as the worker does, and compares the cost with a bare `ssh host true`. */
export const benchPolls = async ({ polls, peers }: PollBench): Promise<BenchResult> => {
  const farm = await startFarm()
  try {
    const { port } = farm
    const pollOf = (i: number): Poll => ({
      id: 'bench',
      fence: 1,
      isTest: false,
      host: farmAddress(i),
      port,
      platform: null,
      userName: 'bench',
      password: 'bench',
      privateKey: null,
      passphrase: null,
      hostKeyFingerprint: farmFingerprint,
      limits: { connectMs: 30_000, totalMs: 60_000, outputBytes: 4 * 1024 * 1024 },
    })
    const never = new AbortController().signal
    const durations: number[] = []
    const some = async (count: number): Promise<void> => {
      let left = count
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (left-- > 0) {
            const result = await pollHost(pollOf(left), () => {}, never)
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

    const spent = bareSshMs(port, peers)
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
          limit: spent,
          isRelative: true,
          better: 'less',
        },
        { what: 'processor time of ssh host true', value: spent, unit: 'ms', better: 'less' },
        { what: 'duration of a poll, p50', value: percentile(durations, 0.5), unit: 'ms', better: 'less' },
      ],
    }
  } finally {
    farm.stop()
  }
}
