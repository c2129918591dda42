import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { type CommandsDeps, createCommands } from '../src/commands.ts'
import type { CommandMemory } from '../src/state.ts'

const noon = Date.parse('2031-05-04T12:00:00.000Z')
const keyOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'der' }).toString('base64')
const signature = (payload: string, key: KeyObject) => sign(null, Buffer.from(payload), key).toString('base64')
const { privateKey } = generateKeyPairSync('ed25519')
const kept = generateKeyPairSync('ed25519').privateKey
const foreign = generateKeyPairSync('ed25519').privateKey

/** Returns a signed command for the agent `a`. */
const command = (counter: number, members: object = {}, key = privateKey) => {
  const payload = JSON.stringify({
    ...{ id: `c${counter}`, agentId: 'a', kind: 'policy', counter, version: counter },
    ...{ expiresAt: new Date(noon + 60_000).toISOString(), ...members },
  })
  return { payload, signature: signature(payload, key) }
}
const transfer = (counter: number) => command(counter, { kind: 'collect-logs' })

const setUp = (deps: Partial<CommandsDeps> = {}) => {
  const saved: CommandMemory[] = []
  const reports: [string, string][] = []
  const warnings: unknown[] = []
  const executed: string[] = []
  const world = { now: noon, due: 0 }
  const commands = createCommands({
    agentId: 'a',
    keys: {
      verify: (payload, given) => given === signature(payload, privateKey),
      verifyKept: (payload, given) => [privateKey, kept].some((key) => given === signature(payload, key)),
    },
    time: {
      now: () => world.now,
      after: ({ at }) => at,
      stampOf: (at) => ({ at, boot: 'boot', elapsed: 0 }),
    },
    log: { debug: () => {}, info: () => {}, warn: (_, fields) => warnings.push(fields), error: () => {} },
    reports: { add: (code, message) => void reports.push([code, message]) },
    memory: { counter: 0, recent: [] },
    saveMemory: (memory) => void saved.push(structuredClone(memory)),
    execute: async ({ id }) => {
      executed.push(id)
      return 'done'
    },
    isUnderWay: () => false,
    onDue: () => void world.due++,
    ...deps,
  })
  const idle = () => commands.idle(new AbortController().signal)
  return { commands, saved, reports, warnings, executed, world, idle }
}
const confirmed = (n: number) => ({ commandId: `c${n}`, outcome: 'confirmed', message: '' })

describe('a command', () => {
  it('is on disk before it runs, and its outcome before it is acknowledged', async () => {
    const seen: unknown[] = []
    const host = setUp({
      execute: async () => {
        seen.push(host.saved.at(-1)?.pending?.length, host.commands.hasDue)
        return 'done'
      },
      onDue: () => seen.push(host.saved.at(-1)?.recent, host.commands.hasDue),
    })
    const one = command(7)
    host.commands.receive([one])
    expect(host.saved).toEqual([
      {
        ...{ agentId: 'a', counter: 7, recent: [] },
        pending: [{ ...one, received: { at: noon, boot: 'boot', elapsed: 0 } }],
      },
    ])
    await host.idle()
    const recent = [{ id: 'c7', outcome: 'confirmed', message: '' }]
    expect(seen).toEqual([1, false, recent, true])
    expect(host.saved.at(-1)).toEqual({ agentId: 'a', counter: 7, recent, pending: [] })
    expect(host.commands.counter).toBe(7)
    expect(host.commands.takeAcks()).toEqual([confirmed(7)])
    expect([host.commands.hasDue, host.commands.takeAcks()]).toEqual([false, []])
    expect(host.reports).toEqual([])
  })

  it.each<[string, { payload: string; signature: string }, string]>([
    ['by a foreign key', command(7, {}, foreign), 'its signature does not verify'],
    ['by a former key', command(7, {}, kept), 'its signature does not verify'],
    ['for another agent', command(7, { agentId: 'b' }), 'it is for another agent'],
    ['that is invalid', command(7, { expiresAt: 1 }), 'it is signed but not a valid command'],
    ['that is too long', command(7, { more: 'x'.repeat(65_536) }), 'it is too long'],
    ['with the last counter', command(5), 'its counter 5 is not higher than the last one (5)'],
    ['with an earlier counter', command(4), 'its counter 4 is not higher than the last one (5)'],
  ])('%s is refused, reported and never acknowledged', async (_, one, why) => {
    const { commands, reports, executed, saved, idle } = setUp({ memory: { counter: 5, recent: [] } })
    commands.receive([one])
    await idle()
    expect(reports).toEqual([['command_refused', `The agent refused a command: ${why}.`]])
    expect([executed, saved, commands.hasDue, commands.counter]).toEqual([[], [], false, 5])
  })

  it('of the greatest length is accepted', async () => {
    const filler = 65_536 - command(7, { more: '' }).payload.length
    const { commands, executed, idle } = setUp()
    commands.receive([command(7, { more: 'x'.repeat(filler) })])
    await idle()
    expect(executed).toEqual(['c7'])
  })

  it('that is repeated is acknowledged again with its outcome, but runs once', async () => {
    const { commands, executed, reports, idle } = setUp()
    commands.receive([command(1), command(1)])
    await idle()
    commands.receive([command(1)])
    expect(commands.takeAcks()).toEqual([confirmed(1)])
    commands.receive([command(1)])
    await idle()
    expect(commands.takeAcks()).toEqual([confirmed(1)])
    expect([executed, reports]).toEqual([['c1'], []])
  })

  it('that has expired when it arrives fails, and its counter counts', async () => {
    const { commands, executed, world, idle } = setUp()
    world.now = noon + 60_000
    commands.receive([command(3)])
    await idle()
    expect(commands.takeAcks()).toEqual([
      { commandId: 'c3', outcome: 'failed', message: 'The command expired before it reached the host.' },
    ])
    expect([executed, commands.counter, world.due]).toEqual([[], 3, 1])
  })

  it('that expires while it waits fails, even if the clock was set back meanwhile', async () => {
    for (const setBack of [false, true]) {
      const gate = Promise.withResolvers<'done'>()
      const { commands, world, idle } = setUp({
        execute: () => gate.promise,
        time: {
          now: () => world.now,
          after: ({ at }) => (setBack ? at + 60_000 : at),
          stampOf: (at) => ({ at, boot: 'boot', elapsed: 0 }),
        },
      })
      commands.receive([command(1, { expiresAt: '2032-01-01T00:00:00Z' }), command(2)])
      world.now = setBack ? noon - 86_400_000 : noon + 60_000
      gate.resolve('done')
      await idle()
      expect(commands.takeAcks()).toEqual([
        confirmed(1),
        { commandId: 'c2', outcome: 'failed', message: 'The command expired before the agent executed it.' },
      ])
    }
  })

  it('that an earlier start began is finished after its expiry', async () => {
    const one = command(1)
    const { commands, executed, idle } = setUp({
      memory: {
        agentId: 'a',
        counter: 1,
        recent: [],
        pending: [{ ...one, received: { at: noon + 60_000, boot: '', elapsed: 0 } }],
      },
      isUnderWay: (id) => id === 'c1',
    })
    commands.resume()
    await idle()
    expect([executed, commands.takeAcks()]).toEqual([['c1'], [confirmed(1)]])
  })

  it('of an unknown kind fails with the name of the kind', async () => {
    const { commands, executed, idle } = setUp()
    commands.receive([command(1, { kind: 'x'.repeat(70) })])
    await idle()
    expect(commands.takeAcks()).toEqual([
      {
        ...{ commandId: 'c1', outcome: 'failed' },
        message: `This agent version does not support the command ${'x'.repeat(64)}. Update the agent.`,
      },
    ])
    expect(executed).toEqual([])
  })

  it('that fails is acknowledged with the first 500 characters of the reason', async () => {
    const { commands, idle } = setUp({ execute: () => Promise.reject(new Error('y'.repeat(600))) })
    commands.receive([command(1)])
    await idle()
    expect(commands.takeAcks()).toEqual([{ commandId: 'c1', outcome: 'failed', message: 'y'.repeat(500) }])
  })

  it('whose outcome cannot be stored is reported, and the next one can run', async () => {
    let isFull = true
    const host = setUp({
      saveMemory: ({ recent }) => {
        if (isFull && recent.length > 0) throw new Error('disk full')
      },
    })
    host.commands.receive([command(1)])
    await host.idle()
    expect(host.reports).toEqual([['command_broke', 'disk full']])
    isFull = false
    host.commands.receive([command(2)])
    await host.idle()
    expect(host.executed).toContain('c2')
  })
})

describe('commands', () => {
  it('run one at a time in order, and transfers beside them', async () => {
    const running: string[] = []
    const gates = new Map<string, () => void>()
    const { commands, idle } = setUp({
      execute: ({ id }) =>
        new Promise((done) => {
          running.push(id)
          gates.set(id, () => done('done'))
        }),
    })
    commands.receive([command(1), command(2), transfer(3), command(4, { kind: 'update', ...build }), command(5)])
    await vi.waitFor(() => expect(running).toHaveLength(2))
    expect(running).toEqual(['c1', 'c3'])
    gates.get('c3')?.()
    await vi.waitFor(() => expect(running).toHaveLength(3))
    expect(running[2]).toBe('c4')
    gates.get('c1')?.()
    await vi.waitFor(() => expect(running).toHaveLength(4))
    expect(running[3]).toBe('c2')
    for (const id of ['c4', 'c2']) gates.get(id)?.()
    await vi.waitFor(() => expect(running).toHaveLength(5))
    gates.get('c5')?.()
    await idle()
    expect(
      commands
        .takeAcks()
        .map(({ commandId }) => commandId)
        .toSorted(),
    ).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  })

  it('whose outcome follows later do not hold up the next, and have one outcome', async () => {
    const { commands, executed, idle, saved } = setUp({
      execute: async ({ id }) => {
        executed.push(id)
        return id === 'c3' ? 'done' : 'later'
      },
    })
    commands.receive([command(1), command(2), command(3)])
    await idle()
    expect([executed, commands.takeAcks()]).toEqual([['c1', 'c2', 'c3'], [confirmed(3)]])
    expect(saved.at(-1)?.pending).toHaveLength(2)
    commands.settle('c1', undefined)
    commands.settle('c1', 'too late')
    commands.settle('c2', 'z'.repeat(600))
    expect(commands.takeAcks()).toEqual([
      confirmed(1),
      { commandId: 'c2', outcome: 'failed', message: 'z'.repeat(500) },
    ])
    expect(saved.at(-1)?.pending).toEqual([])
    expect(saved.at(-1)?.recent.map(({ id }) => id)).toEqual(['c3', 'c1', 'c2'])
    // The next start runs them again.
    expect(executed).toHaveLength(3)
  })

  it('are forgotten beyond the last 64 outcomes, and 64 are acknowledged at once', async () => {
    const { commands, idle, saved } = setUp()
    commands.receive(Array.from({ length: 70 }, (_, i) => command(i + 1)))
    await idle()
    expect(saved.at(-1)?.recent.map(({ id }) => id)).toEqual(Array.from({ length: 64 }, (_, i) => `c${i + 7}`))
    expect(commands.takeAcks()).toHaveLength(64)
    expect(commands.hasDue).toBe(true)
    expect(commands.takeAcks().map(({ commandId }) => commandId)).toEqual(['c65', 'c66', 'c67', 'c68', 'c69', 'c70'])
  })

  it('that arrive while another one runs wait for it', async () => {
    const gate = Promise.withResolvers<'done'>()
    const started: string[] = []
    const { commands, idle } = setUp({
      execute: ({ id }) => {
        started.push(id)
        return gate.promise
      },
    })
    commands.receive([command(1)])
    commands.receive([command(2)])
    expect(started).toEqual(['c1'])
    gate.resolve('done')
    await idle()
    expect(started).toEqual(['c1', 'c2'])
  })

  it('run although a pending one cannot be read', async () => {
    const pending = [{ payload: '{', signature: '' }]
    const { commands, executed, reports, idle } = setUp({ memory: { agentId: 'a', counter: 1, recent: [], pending } })
    commands.receive([command(2)])
    await idle()
    expect([executed, reports, commands.takeAcks()]).toEqual([['c2'], [], [confirmed(2)]])
  })

  it('that a stop interrupts have no outcome, and none begins', async () => {
    const started: string[] = []
    const { commands, idle, saved } = setUp({
      execute: ({ id }, signal) =>
        new Promise((_, fail) => {
          started.push(id)
          signal.addEventListener('abort', () => fail(new Error('stopped')))
        }),
    })
    commands.receive([command(1), command(2)])
    commands.stop()
    await idle()
    commands.receive([command(3)])
    await idle()
    expect([started, commands.hasDue, saved.at(-1)?.pending?.length]).toEqual([['c1'], false, 3])
  })

  it('are waited for until the wait is aborted', async () => {
    const { commands } = setUp({ execute: () => new Promise(() => {}) })
    const given = new AbortController()
    given.abort()
    commands.receive([command(1)])
    await commands.idle(given.signal)
    expect(commands.hasDue).toBe(false)
  })
})

describe('after a restart', () => {
  it('pending commands run, even those of a former key, and get a new timestamp', async () => {
    const pending = [command(1), command(2, {}, kept)]
    const { commands, executed, saved, warnings, idle } = setUp({
      memory: { agentId: 'a', counter: 2, recent: [], pending },
    })
    commands.resume()
    expect(saved).toEqual([
      {
        ...{ agentId: 'a', counter: 2, recent: [] },
        pending: pending.map((one) => ({ ...one, received: { at: noon, boot: 'boot', elapsed: 0 } })),
      },
    ])
    await idle()
    expect([executed, warnings]).toEqual([['c1', 'c2'], []])
  })

  it('keep the time at which they arrived if the clock was set back', () => {
    const later = { at: noon + 1_000, boot: '', elapsed: 0 }
    const memory = { agentId: 'a', counter: 1, recent: [], pending: [{ ...command(1), received: later }] }
    const { commands, saved } = setUp({ memory })
    commands.resume()
    expect(saved[0]?.pending?.[0]?.received?.at).toBe(noon + 1_000)
  })

  it.each<[string, ReturnType<typeof command>]>([
    ['by a foreign key', command(1, {}, foreign)],
    ['for another agent', command(1, { agentId: 'b' })],
    ['with a counter that was never reached', command(3)],
    ['with an outcome', command(1, { id: 'known' })],
    ['that are invalid', command(1, { id: '' })],
  ])('pending commands %s are dropped', async (_, one) => {
    const recent = [{ id: 'known', outcome: 'confirmed' as const, message: '' }]
    const { commands, executed, saved, warnings, idle } = setUp({
      memory: { agentId: 'a', counter: 2, recent, pending: [one, command(2)] },
    })
    commands.resume()
    await idle()
    expect([executed, warnings]).toEqual([['c2'], [{ count: 1 }]])
    expect(saved[0]?.pending).toHaveLength(1)
  })

  it('nothing is written without pending commands', () => {
    for (const memory of [
      { agentId: 'a', counter: 2, recent: [] },
      { agentId: 'a', counter: 2, recent: [], pending: [] },
      { agentId: 'b', counter: 2, recent: [] },
    ]) {
      const { commands, saved } = setUp({ memory })
      commands.resume()
      expect(saved).toEqual([])
    }
  })

  it('counters and commands of another identity do not apply', async () => {
    const memory = { agentId: 'b', counter: 9, recent: [{ id: 'c1', outcome: 'failed' as const, message: '' }] }
    const pending = [command(1, { agentId: 'b' }), command(2)]
    const { commands, executed, saved, warnings, idle } = setUp({ memory: { ...memory, pending } })
    expect(commands.counter).toBe(0)
    commands.resume()
    expect([saved, warnings]).toEqual([[{ agentId: 'a', counter: 0, recent: [], pending: [] }], [{ count: 2 }]])
    commands.receive([command(1)])
    await idle()
    expect(executed).toEqual(['c1'])
  })
})

const build = {
  ...{ version: '1.0.0', sha256: 'a'.repeat(64), size: 1, architecture: 'x64' },
  ...{ releaseKey: keyOf(privateKey), releaseSignature: 'AAAA' },
}
