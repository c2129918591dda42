import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dwordValue, textValue, VALUE_TYPES } from '../src/platform/windows/registry.ts'
import { runService, type ServiceControl, type ServiceStatus } from '../src/platform/windows/service.ts'
import { checkService } from '../src/platform/windows/service-check.ts'
import { createMemoryRegistry } from './registry-memory.ts'

const STOP = 1
const SHUTDOWN = 5
const PRESHUTDOWN = 15

/** A service control manager that starts the service at once. */
const createManager = () => {
  const reports: ServiceStatus[] = []
  let control: (code: number) => number = () => -1
  let isStopped: (isService: boolean) => void = () => undefined
  let terminated: number | undefined
  const manager: ServiceControl = {
    dispatch(onStart, onControl) {
      control = onControl
      return new Promise((resolve) => {
        isStopped = resolve
        onStart()
      })
    },
    report(status) {
      reports.push(status)
      if (status.state === 'stopped') isStopped(true)
    },
    terminate(code) {
      terminated = code
    },
  }
  return { manager, reports, send: (code: number) => control(code), terminated: () => terminated }
}

const start = (main: (signal: AbortSignal) => Promise<number>, shortestMs = 0) => {
  const scm = createManager()
  const errors = new EventEmitter()
  const failures: string[] = []
  const ended = runService({
    control: scm.manager,
    main,
    finalCodes: [3],
    onFailure: (message) => failures.push(message),
    timing: { checkpointMs: 1000, stopLimitMs: 5000, shortestMs },
    errors: errors as unknown as NodeJS.Process,
  })
  return { ...scm, ended, errors, failures, last: () => scm.reports.at(-1) }
}

const untilAborted = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(0)))

describe('a Windows service', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([STOP, SHUTDOWN, PRESHUTDOWN])('stops cleanly after control %i', async (code) => {
    const service = start(untilAborted)
    expect(service.reports).toMatchObject([
      { state: 'startPending', accepts: 0, checkpoint: 1 },
      { state: 'running', accepts: 0x105, checkpoint: 0, waitHintMs: 0 },
    ])
    expect(service.send(code)).toBe(0)
    expect(service.last()).toMatchObject({ state: 'stopPending', accepts: 0, checkpoint: 1 })
    await vi.runAllTimersAsync()
    expect(await service.ended).toBe(true)
    expect(service.last()).toMatchObject({ state: 'stopped', error: 0, specificCode: 0, checkpoint: 0 })
    expect(service.terminated()).toBe(0)
    expect(service.errors.listenerCount('uncaughtException')).toBe(0)
  })

  it('runs for the shortest time if its agent ends at once, so that an installation succeeds', async () => {
    const service = start(() => Promise.resolve(3), 10_000)
    await vi.advanceTimersByTimeAsync(9_999)
    expect(service.last()).toMatchObject({ state: 'running' })
    await vi.advanceTimersByTimeAsync(1)
    expect(service.last()).toMatchObject({ state: 'stopped' })
    const stopped = start(() => Promise.resolve(3), 10_000)
    stopped.send(STOP)
    await vi.advanceTimersByTimeAsync(0)
    expect(stopped.last()).toMatchObject({ state: 'stopped' })
  })

  it('answers other controls without stopping', () => {
    const service = start(untilAborted)
    expect([service.send(4), service.send(200), service.reports.length]).toEqual([0, 120, 2])
  })

  it('reports progress during a long stop, gives up at the limit and then counts as failed', async () => {
    const service = start(() => new Promise(() => undefined))
    service.send(STOP)
    expect(service.send(SHUTDOWN)).toBe(0)
    await vi.advanceTimersByTimeAsync(4500)
    expect(service.reports.slice(2).map(({ state, checkpoint }) => [state, checkpoint])).toEqual(
      [1, 2, 3, 4, 5].map((checkpoint) => ['stopPending', checkpoint]),
    )
    await vi.advanceTimersByTimeAsync(1000)
    expect(service.last()).toMatchObject({ state: 'stopped', error: 1066, specificCode: 1 })
    expect(service.failures).toEqual(['The agent did not stop within 5 s.'])
  })

  it('reports the exit code of a failure, but not one that a restart would repeat', async () => {
    const failed = start(async () => 7)
    await failed.ended
    expect(failed.last()).toMatchObject({ state: 'stopped', error: 1066, specificCode: 7 })
    expect(failed.terminated()).toBe(7)
    const revoked = start(async () => 3)
    await revoked.ended
    expect(revoked.last()).toMatchObject({ state: 'stopped', error: 0, specificCode: 0 })
    const thrown = start(() => Promise.reject(new Error('no disk')))
    await thrown.ended
    expect(thrown.last()).toMatchObject({ error: 1066, specificCode: 1 })
    expect(thrown.failures).toEqual(['no disk'])
  })

  it('treats an error during a requested stop as a stop', async () => {
    const service = start(
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    )
    service.send(STOP)
    await vi.runAllTimersAsync()
    await service.ended
    expect(service.last()).toMatchObject({ state: 'stopped', error: 0 })
    expect(service.failures).toEqual([])
  })

  it.each(['uncaughtException', 'unhandledRejection'])('ends the process without a report after an %s', (event) => {
    const service = start(untilAborted)
    service.errors.emit(event, new Error('unexpected'))
    expect(service.terminated()).toBe(1)
    expect(service.last()).toMatchObject({ state: 'running' })
    expect(service.failures[0]).toContain('unexpected')
  })

  it('returns false without a service control manager', async () => {
    const control = { ...createManager().manager, dispatch: () => Promise.resolve(false) }
    const main = vi.fn(untilAborted)
    expect(await runService({ control, main, onFailure: () => undefined })).toBe(false)
    expect(main).not.toHaveBeenCalled()
  })
})

const KEY = 'HKLM\\SYSTEM\\CurrentControlSet\\Services\\Agent'
const PROGRAM = 'C:\\Program Files\\Portcullis Agent\\node.exe'

/** Recovery actions as the configuration program of Windows stores them. */
const actions = (...types: number[]) => {
  const data = Buffer.alloc(20 + 8 * types.length)
  data.writeUInt32LE(86_400, 0)
  data.writeUInt32LE(types.length, 12)
  data.writeUInt32LE(20, 16)
  for (const [index, type] of types.entries()) data.writeUInt32LE(type, 20 + 8 * index)
  return { type: VALUE_TYPES.binary, data }
}

const installed = () => {
  const memory = createMemoryRegistry()
  const { registry } = memory
  registry.write(KEY, 'ImagePath', {
    ...textValue(`"${PROGRAM}" "C:\\Program Files\\Portcullis Agent\\agent.cjs" service`),
    type: VALUE_TYPES.expandable,
  })
  registry.writeText(KEY, 'ObjectName', 'LocalSystem')
  registry.writeDword(KEY, 'Start', 2)
  registry.writeDword(KEY, 'Type', 0x10)
  registry.write(KEY, 'FailureActions', actions(1, 1, 1))
  registry.writeDword(KEY, 'FailureActionsOnNonCrashFailures', 1)
  return memory
}
const codes = ({ registry }: ReturnType<typeof installed>) =>
  checkService(registry, 'Agent', PROGRAM).map(({ code }) => code)

describe('the check of the installed service', () => {
  it('finds nothing after an installation', () => {
    expect(checkService(installed().registry, 'agent', PROGRAM)).toEqual([])
  })

  it.each([
    ['an unquoted path', 'ImagePath', textValue(`${PROGRAM} service`), ['image_path_unquoted']],
    ['an open quotation mark', 'ImagePath', textValue(`"${PROGRAM}`), ['image_path_unquoted']],
    ['another program', 'ImagePath', textValue('"C:\\Temp\\node.exe" service'), ['image_path_foreign']],
    ['a path of the wrong type', 'ImagePath', dwordValue(1), ['image_path_unquoted']],
    ['another account', 'ObjectName', textValue('.\\user'), ['service_account']],
    ['a manual start', 'Start', dwordValue(3), ['service_start']],
    ['a shared process', 'Type', dwordValue(0x20), ['service_type']],
    ['no recovery', 'FailureActions', actions(), ['recovery_missing']],
    ['a recovery that ends', 'FailureActions', actions(1, 0), ['recovery_missing']],
    [
      'a recovery that lies about its size',
      'FailureActions',
      { type: 3, data: actions(1).data.subarray(0, 22) },
      ['recovery_missing'],
    ],
    ['a recovery after crashes only', 'FailureActionsOnNonCrashFailures', dwordValue(0), ['recovery_only_after_crash']],
  ] as const)('finds %s', (_, name, value, expected) => {
    const memory = installed()
    memory.registry.write(KEY, name, value)
    expect(codes(memory)).toEqual(expected)
  })

  it('finds a missing service, and one that it cannot read', () => {
    const memory = installed()
    memory.refuse(KEY, ['values'])
    expect(codes(memory)).toEqual(['service_unreadable'])
    expect(checkService(createMemoryRegistry().registry, 'Agent', PROGRAM).map(({ code }) => code)).toEqual([
      'service_missing',
    ])
  })
})
