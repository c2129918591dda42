import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentPaths } from '@portcullis/contract/agent-protocol.ts'
import { hub, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readIfThere } from '../src/files.ts'
import { createHostTime } from '../src/host-time.ts'
import { rule, startHost } from './enforcing.ts'
import { temporaryDir, until } from './harness.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const outage = () => Array.from({ length: 10_000 }, () => ({ kind: 'reset' as const }))

/** A host whose clock and boots the test controls. `truth` is the real time since the start. */
const createWorld = () => {
  const began = Date.now()
  let boots = 1
  let booted = 0
  const world = {
    began,
    truth: 0,
    /** How far the host clock is off. */
    forged: 0,
    clock: { now: () => Date.now() + world.truth + world.forged, monotonic: () => performance.now() + world.truth },
    boot: () => {
      const since = booted
      return { id: `boot-${boots}`, elapsed: () => Date.now() - began + world.truth - since }
    },
    /** Restarts the host, which was off for some time. */
    restart(offMs: number) {
      world.truth += offMs
      booted = Date.now() - began + world.truth
      boots++
    },
  }
  return world
}

/** Starts an armed host with a stick that a grant allows for an hour, and cuts its connection. */
const granted = async () => {
  const world = createWorld()
  const expiresAt = new Date(Date.now() + hour).toISOString()
  const host = await startHost({
    clock: world.clock,
    boot: world.boot,
    devices: [plainKeyboard({ portPath: '1-1' })],
    rules: [rule({ effect: 'allow', level: 'grant', kinds: ['Mass Storage'], expiresAt })],
  })
  await host.arm()
  host.tree.plug(storageStick({ portPath: '1-2' }))
  await until('granted', () => host.tree.isAuthorized('1-2'))
  host.peer.fail(agentPaths.session, ...outage())
  host.peer.fail(agentPaths.checkIn, ...outage())
  const evaluated = async (port: number) => {
    host.tree.plug(hub({ portPath: `1-${port}` }))
    await until('evaluated', () => host.tree.isAuthorized(`1-${port}`))
  }
  return { world, host, evaluated }
}

describe('a grant on a host whose clock is forged', () => {
  it.each([
    ['set back by a year', (_: number) => -365 * day],
    ['stopped', (passed: number) => -passed],
    ['slow', (passed: number) => -0.9 * passed],
  ])('ends on time if the clock is %s', async (_, forgedOf) => {
    const { world, host, evaluated } = await granted()
    const pass = (ms: number) => {
      world.truth = ms
      world.forged = forgedOf(ms)
    }
    pass(58 * minute)
    await evaluated(5)
    expect(host.tree.isAuthorized('1-2')).toBe(true)
    pass(hour)
    await until('ended', () => !host.tree.isAuthorized('1-2'))
  })

  it('ends earlier if the clock jumps forward, and not later if it jumps back', async () => {
    const { world, host, evaluated } = await granted()
    world.forged = 2 * hour
    await until('ended early', () => !host.tree.isAuthorized('1-2'))
    world.forged = -30 * day
    world.truth = hour
    await evaluated(5)
    host.tree.plug(storageStick({ portPath: '1-4' }))
    await evaluated(6)
    expect([host.tree.isAuthorized('1-2'), host.tree.isAuthorized('1-4')]).toEqual([false, false])
  })

  it('is extended by a restart of the host only by the time that the host was off', async () => {
    const { world, host } = await granted()
    world.truth = 40 * minute
    world.forged = -30 * day
    await until('stored', () => {
      const { at = 0 } = JSON.parse(readIfThere(host.path('time.json')) ?? '{}') as { at?: number }
      return at >= world.began + 39 * minute
    })
    await host.stop()
    world.restart(5 * minute)
    host.begin()
    await until('armed again', () => host.tree.read('usb1', 'authorized_default') === '0')
    expect(host.tree.isAuthorized('1-2')).toBe(true)
    // 40 minutes before the restart, and 20 after it. The 5 minutes during which the host was off do not count.
    world.truth += 20 * minute
    await until('ended', () => !host.tree.isAuthorized('1-2'))
  })

  it('lasts at most as long as it was given for if the stored time is damaged', async () => {
    const { world, host } = await granted()
    await host.stop()
    writeFileSync(host.path('time.json'), '{"at":')
    world.restart(0)
    world.forged = -30 * day
    host.begin()
    await until('armed again', () => host.tree.read('usb1', 'authorized_default') === '0')
    world.truth += hour
    await until('ended', () => !host.tree.isAuthorized('1-2'))
  })

  it('has the time of the server again after the next policy', async () => {
    const { world, host } = await granted()
    world.forged = 2 * hour
    await until('ended early', () => !host.tree.isAuthorized('1-2'))
    world.forged = -day
    host.peer.clearFaults()
    host.peer.askForPolicy()
    host.tree.plug(storageStick({ portPath: '1-4' }))
    await until('granted again', () => host.tree.isAuthorized('1-4'))
  })
})

describe('a command that waits', () => {
  it('ends on time, even if the clock was set back and the host was restarted', async () => {
    const world = createWorld()
    const host = await startHost({
      clock: world.clock,
      boot: world.boot,
      devices: [plainKeyboard({ portPath: '1-1' })],
    })
    host.peer.fail(agentPaths.policy, { kind: 'hang' })
    const id = host.peer.order('configure', { mode: 'Armed', applyToPresent: false })
    await until('pending', () => readIfThere(host.path('commands.json'))?.includes(id) === true)
    await host.stop()
    world.restart(0)
    world.truth += 61_000
    world.forged = -30 * day
    host.begin()
    await until('answered', () => host.peer.seen.acks.some((ack) => ack.commandId === id))
    expect(host.peer.seen.acks.at(-1)).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('expired before'),
    })
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
  })
})

type Step =
  | { do: 'pass'; ms: number }
  | { do: 'forge'; ms: number }
  | { do: 'restartAgent' }
  | { do: 'restartHost'; offMs: number }
  | { do: 'confirm'; delayMs: number }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 5 * hour }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('forge' as const), ms: fc.integer({ min: -400 * day, max: day }) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restartAgent' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('restartHost' as const), offMs: fc.integer({ min: 0, max: day }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('confirm' as const), delayMs: fc.integer({ min: 0, max: minute }) }),
  },
)

describe('the time of a host', () => {
  it('is behind the truth at most by the time that the host was off, whatever its clock shows', () => {
    const began = 1_700_000_000_000
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
        const stateDir = temporaryDir()
        let truth = began
        let wall = 0
        let bootedAt = began - hour
        let boots = 0
        let off = 0
        let early = 0
        const create = () => {
          const since = bootedAt
          return createHostTime({
            stateDir,
            boot: { id: `boot-${boots}`, elapsed: () => truth - since },
            clock: { now: () => wall, monotonic: () => truth },
            reports: { add: (_, message) => expect.unreachable(message) },
          })
        }
        let time = create()
        const confirm = (delayMs: number) => {
          const asked = time.elapsed()
          truth += delayMs
          // The server answers at the end of the delay.
          time.confirm(truth, asked)
          off = 0
          early = delayMs
        }
        confirm(0)
        for (const step of steps) {
          if (step.do === 'pass')
            // The agent checks every second. The test simulates only the check of each minute.
            for (let left = step.ms; left > 0; left -= minute) {
              truth += Math.min(left, minute)
              time.keep()
            }
          else if (step.do === 'forge') wall = truth + step.ms
          else if (step.do === 'confirm') confirm(step.delayMs)
          else {
            if (step.do === 'restartHost') {
              truth += step.offMs
              off += step.offMs
              early += minute
              boots++
              bootedAt = truth
            }
            time = create()
          }
          expect(time.now()).toBeGreaterThanOrEqual(truth - off)
          expect(time.now()).toBeLessThanOrEqual(Math.max(wall, truth - off + early))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('does not stop if the host restarts again and again before the time is stored', () => {
    const stateDir = temporaryDir()
    let last = 0
    for (let n = 0; n < 100; n++) {
      const time = createHostTime({
        stateDir,
        boot: { id: `boot-${n}`, elapsed: () => 30_000 },
        clock: { now: () => 0, monotonic: () => 0 },
        reports: { add: () => undefined },
      })
      if (n === 0) time.confirm(1_000_000, 30_000)
      expect(time.now()).toBeGreaterThanOrEqual(last + (n === 0 ? 0 : 30_000))
      last = time.now()
    }
  })

  it('resumes after a restart of a container, which has a new uptime in the same boot', () => {
    const stateDir = temporaryDir()
    const create = (elapsed: number) =>
      createHostTime({
        stateDir,
        boot: { id: 'boot', elapsed: () => elapsed },
        clock: { now: () => 0, monotonic: () => 0 },
        reports: { add: () => undefined },
      })
    create(day).confirm(1_000_000, day)
    expect(create(hour).now()).toBeGreaterThanOrEqual(1_000_000 + hour)
  })

  it('follows the host clock if the time cannot be stored or the boot is unknown, and says so', () => {
    const stateDir = join(temporaryDir(), 'missing')
    const reports: string[] = []
    const time = createHostTime({
      stateDir,
      boot: { id: '', elapsed: () => day },
      clock: { now: () => 500, monotonic: () => 0 },
      reports: { add: (code) => reports.push(code) },
    })
    expect(time.now()).toBe(500)
    time.confirm(400, day)
    time.confirm(450, day)
    expect(time.now()).toBe(500)
    expect(reports).toEqual(['time_not_stored'])
  })
})
