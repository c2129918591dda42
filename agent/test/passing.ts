import type { DeviceReport, DriverMismatch, PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { type AttackToolRow, createAttackTools } from '@portcullis/domain'
import { createEvaluator } from '../src/enforcement/evaluator.ts'
import { createHolds } from '../src/enforcement/holds.ts'
import { createPass } from '../src/enforcement/pass.ts'
import type { HeldPolicy } from '../src/enforcement/policy-file.ts'
import { createRecent } from '../src/enforcement/recent.ts'
import type { ScannedDevice, WriteOutcome } from '../src/platform/platform.ts'

export const mismatch: DriverMismatch = { bound: [{ interface: 0, claims: 'Mass Storage', driver: 'rtl8150' }] }

/** Returns a policy in which the Rubber Ducky is a known attack tool. */
export const heldPolicy = (rules: readonly PolicyRule[]): HeldPolicy => ({
  policy: {
    ...{ kind: 'policy', agentId: 'a', nonce: '', version: 1, issuedAt: '', knowledgeHash: '', contact: '' },
    rules: [...rules],
  },
  attackTools: createAttackTools(
    [
      { id: 'ducky', group: 'own', vid: '03EB', pid: '2401', name: 'Ducky', kind: 'k', source: 's' },
    ] satisfies AttackToolRow[],
    [],
  ),
})

/** Creates a pass over devices with a kernel in memory. */
export const createWorld = ({
  rules = [] as readonly PolicyRule[],
  hasPolicy = true,
  /** Other pointing devices of a Windows host. Undefined on Linux, which keeps none. */
  otherPointers = undefined as number | undefined,
} = {}) => {
  const world = {
    now: 1_000_000,
    attached: new Map<string, ScannedDevice>(),
    /** Results of writes by port. By default, a write succeeds. */
    refusals: new Map<string, WriteOutcome>(),
    writes: [] as string[],
    reported: [] as string[],
    logged: [] as string[],
    present: new Set<string>(),
    otherKeyboards: 0,
    inputRadios: new Set<string>(),
    bootPorts: new Set<string>(),
    /** Ports of devices with a driver that does not match their claim. */
    mismatching: new Set<string>(),
    opened: [] as string[],
    /** What programs see of a device, in order with what the agent does. */
    told: [] as string[],
    sparesLastKeyboard: true,
    plug(report: DeviceReport, { instance = '1', authorized = false } = {}) {
      world.attached.set(report.portPath, { report: { ...report, authorized }, instance })
    },
    unplug: (portPath: string) => world.attached.delete(portPath),
    isWorking: (portPath: string) => world.attached.get(portPath)?.report.authorized !== false,
    use: (some: readonly PolicyRule[]) => evaluator.use(heldPolicy(some)),
    keyOf: (portPath: string): string => evaluator.identify(world.attached.get(portPath) as ScannedDevice).key,
    /** Runs a full pass, or a pass over some new devices. */
    run(...ports: readonly string[]) {
      const all = [...world.attached.values()]
      const isComplete = ports.length === 0
      const { outcomes, hasWritten, opened } = pass.run(
        all.filter(({ report }) => isComplete || ports.includes(report.portPath)),
        isComplete,
      )
      for (const portPath of opened) world.told.push(`announce ${portPath}`)
      return {
        hasWritten,
        /** Result of each device: the source of the decision, the guard, `held` or `kept-out`; and `+` if it works. */
        became: outcomes.map(
          ({ identified, decision, guard, hold, isKeptOut, isWorking }) =>
            `${identified.portPath} ${hold !== undefined ? 'held ' : ''}${isKeptOut ? 'kept-out ' : ''}${guard ?? decision.source}${isWorking ? ' +' : ''}`,
        ),
      }
    },
  }
  const clock = { now: () => world.now, monotonic: () => world.now }
  const evaluator = createEvaluator()
  if (hasPolicy) evaluator.use(heldPolicy(rules))
  const recent = createRecent({ clock, known: [], decide: evaluator.decide })
  const holds = createHolds({ clock, known: [], accepted: [], peerOf: () => undefined, onChange: () => undefined })
  const log = (level: string) => (code: string, fields?: object) =>
    void world.logged.push(`${level} ${code} ${Object.values(fields ?? {}).join(' ')}`)
  const setAuthorized = (portPath: string, isAllowed: boolean): WriteOutcome => {
    world.writes.push(`${portPath}=${isAllowed ? 1 : 0}`)
    const device = world.attached.get(portPath)
    const answer: WriteOutcome = world.refusals.get(portPath) ?? { kind: 'done' }
    if (answer.kind === 'done' && device !== undefined)
      world.attached.set(portPath, { ...device, report: { ...device.report, authorized: isAllowed } })
    return answer
  }
  const pass = createPass({
    gate: { setAuthorized },
    evaluator,
    programs: {
      withdraw: (portPath) => void world.told.push(`withdraw ${portPath}`),
    },
    authorise: (portPath) => {
      world.told.push(`authorise ${portPath}`)
      return setAuthorized(portPath, true)
    },
    needs: {
      otherKeyboards: () => world.otherKeyboards,
      bootPorts: () => world.bootPorts,
      inputRadios: () => world.inputRadios,
      ...(otherPointers === undefined ? {} : { otherPointers: () => otherPointers }),
    },
    recent,
    clock,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    reports: { add: (code, message) => void world.reported.push(`${code} ${message}`) },
    wasPresent: ({ key }) => world.present.has(key),
    driverCheck: {
      mismatch: () => null,
      closed: () => [],
      open: ({ portPath }) => {
        world.opened.push(portPath)
        world.told.push(`open ${portPath}`)
        return world.mismatching.has(portPath) ? mismatch : null
      },
    },
    holds,
    sparesLastKeyboard: () => world.sparesLastKeyboard,
  })
  return Object.assign(world, { pass, recent, holds, evaluator })
}
export type World = ReturnType<typeof createWorld>
