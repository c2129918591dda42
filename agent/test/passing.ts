import type { DeviceReport, DriverMismatch, PolicyRule } from '@portcullis/contract/agent-protocol'
import { type AttackToolRow, createAttackTools } from '@portcullis/domain'
import type { ScannedDevice } from '../src/collectors/sysfs.ts'
import { createHolds } from '../src/enforcement/holds.ts'
import { createJudge } from '../src/enforcement/judge.ts'
import type { WriteOutcome } from '../src/enforcement/kernel.ts'
import { createPass } from '../src/enforcement/pass.ts'
import type { HeldPolicy } from '../src/enforcement/policy-file.ts'
import { createRecent } from '../src/enforcement/recent.ts'

export const mismatch: DriverMismatch = { bound: [{ interface: 0, claims: 'Mass Storage', driver: 'rtl8150' }] }

/** A policy as the agent holds it. The Rubber Ducky is a known attack tool. */
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

/** The pass over devices, on a kernel in memory. */
export const createWorld = ({ rules = [] as readonly PolicyRule[], hasPolicy = true } = {}) => {
  const world = {
    now: 1_000_000,
    attached: new Map<string, ScannedDevice>(),
    /** What the kernel answers to a write, by port; by default it does it. */
    refusals: new Map<string, WriteOutcome>(),
    writes: [] as string[],
    told: [] as string[],
    logged: [] as string[],
    present: new Set<string>(),
    otherKeyboards: 0,
    bootPorts: new Set<string>(),
    /** Ports of devices to which the kernel bound what they do not claim. */
    lying: new Set<string>(),
    opened: [] as string[],
    sparesLastKeyboard: true,
    plug(report: DeviceReport, { instance = '1', authorized = false } = {}) {
      world.attached.set(report.portPath, { report: { ...report, authorized }, instance })
    },
    unplug: (portPath: string) => world.attached.delete(portPath),
    isWorking: (portPath: string) => world.attached.get(portPath)?.report.authorized !== false,
    use: (some: readonly PolicyRule[]) => judge.use(heldPolicy(some)),
    keyOf: (portPath: string): string => judge.identify(world.attached.get(portPath) as ScannedDevice).key,
    /** Looks at all devices, or at some that just came. */
    look(...ports: readonly string[]) {
      const all = [...world.attached.values()]
      const isComplete = ports.length === 0
      const { outcomes, hasWritten } = pass.run(
        all.filter(({ report }) => isComplete || ports.includes(report.portPath)),
        isComplete,
      )
      return {
        hasWritten,
        /** What became of each: what decided, or the guard, `held`, `kept-out`; and `+` when it works. */
        became: outcomes.map(
          ({ judged, decision, guard, hold, isKeptOut, isWorking }) =>
            `${judged.portPath} ${hold !== undefined ? 'held ' : ''}${isKeptOut ? 'kept-out ' : ''}${guard ?? decision.source}${isWorking ? ' +' : ''}`,
        ),
      }
    },
  }
  const clock = { now: () => world.now, monotonic: () => world.now }
  const judge = createJudge()
  if (hasPolicy) judge.use(heldPolicy(rules))
  const recent = createRecent({ clock, known: [], decide: judge.decide })
  const holds = createHolds({ clock, known: [], accepted: [], peerOf: () => undefined, onChange: () => undefined })
  const log = (level: string) => (code: string, fields?: object) =>
    void world.logged.push(`${level} ${code} ${Object.values(fields ?? {}).join(' ')}`)
  const pass = createPass({
    kernel: {
      setAuthorized(portPath, isAllowed) {
        world.writes.push(`${portPath}=${isAllowed ? 1 : 0}`)
        const device = world.attached.get(portPath)
        const answer = world.refusals.get(portPath) ?? { kind: 'done' }
        if (answer.kind === 'done' && device !== undefined)
          world.attached.set(portPath, { ...device, report: { ...device.report, authorized: isAllowed } })
        return answer
      },
    },
    judge,
    needs: { otherKeyboards: () => world.otherKeyboards, bootPorts: () => world.bootPorts },
    recent,
    clock,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    reports: { add: (code, message) => void world.told.push(`${code} ${message}`) },
    wasPresent: (key) => world.present.has(key),
    truth: {
      mismatch: () => null,
      open: ({ portPath }) => {
        world.opened.push(portPath)
        return world.lying.has(portPath) ? mismatch : null
      },
    },
    holds,
    sparesLastKeyboard: () => world.sparesLastKeyboard,
  })
  return Object.assign(world, { pass, recent, holds, judge })
}
export type World = ReturnType<typeof createWorld>
