import { join } from 'node:path'
import type { DeviceReport, PolicyRule, ReleaseKeyFile } from '@portcullis/contract/agent-protocol.ts'
import { parseReport, policyDevice } from '@portcullis/domain'
import { expect, onTestFinished } from 'vitest'
import type { Clock } from '../src/clock.ts'
import type { Boot, System } from '../src/platform/platform.ts'
import { createTree, startAgent, temporaryDir, until } from './harness.ts'
import { type PeerOptions, startPeer } from './peer.ts'

/** Returns a rule with default values for the members that a test does not set. */
export const rule = (fields: Partial<PolicyRule> & Pick<PolicyRule, 'effect'>): PolicyRule => ({
  id: `rule-${Math.random().toString(36).slice(2)}`,
  level: 'global',
  ...fields,
})

/** Returns the fingerprint of a device for a rule. */
export const fingerprintOf = (report: DeviceReport): string =>
  policyDevice(parseReport(report), report, null).fingerprint

export interface HostOptions extends PeerOptions {
  devices?: readonly DeviceReport[]
  rules?: PolicyRule[]
  clock?: Clock
  /** Boots of the host; it may change between starts. */
  boot?: (procRoot: string) => Boot
  /** Version that the agent reports. */
  version?: string
  /** Release key that is built into the agent. */
  builtInKey?: ReleaseKeyFile | undefined
  args?: readonly string[]
  system?: System
}

/** Starts a peer and an enrolled agent on its own tree. The host has only USB keyboards. */
export const startHost = async ({
  devices = [],
  rules = [],
  clock,
  boot,
  version,
  builtInKey,
  args: more = [],
  system,
  ...options
}: HostOptions = {}) => {
  const peer = await startPeer({ nextCheckInSeconds: 0.1, ...options })
  onTestFinished(async () => {
    await peer.stop()
    expect(peer.seen.violations).toEqual([])
  })
  peer.policy.rules = rules
  const tree = createTree(devices)
  const stateDir = temporaryDir()
  const procRoot = temporaryDir()
  const etcRoot = temporaryDir()
  const args = [
    ...['--server', peer.url, '--token', peer.token, '--state-dir', stateDir, '--sysfs-root', tree.root],
    ...['--proc-root', procRoot, '--etc-root', etcRoot, ...more],
  ]
  const start = (as = version, key = builtInKey) =>
    startAgent(args, {
      ...(clock === undefined ? {} : { clock }),
      ...(boot === undefined ? {} : { boot: boot(procRoot) }),
      ...(system === undefined ? {} : { system }),
      ...(as === undefined ? {} : { version: as }),
      builtInKey: key,
    })
  let agent = start()
  await until('first check-in', () => peer.seen.checkIns.length > 0)

  const ackOf = (id: string) => peer.seen.acks.find((ack) => ack.commandId === id)
  const host = {
    peer,
    tree,
    stateDir,
    procRoot,
    etcRoot,
    args,
    path: (name: string) => join(stateDir, name),
    /** Sends a command and returns its acknowledgement. */
    async order(kind: string, body: Record<string, unknown> = {}) {
      const id = peer.order(kind, body)
      await until(`acknowledgement of ${kind}`, () => ackOf(id) !== undefined)
      return ackOf(id)
    },
    arm: (applyToPresent = false) => host.order('configure', { mode: 'Armed', applyToPresent }),
    free: () => host.order('configure', { mode: 'Free', applyToPresent: false }),
    /** Changes the rules and waits until the host has them. */
    async change(next: PolicyRule[]) {
      peer.policy.rules = next
      peer.policy.version++
      expect(await host.order('policy', { version: peer.policy.version })).toMatchObject({ outcome: 'confirmed' })
    },
    stop: () => agent.stop(),
    /** Starts the agent with the same state, without waiting. */
    begin(as = version, key = builtInKey) {
      agent = start(as, key)
    },
    /** Resolves when the agent has ended. */
    ended: () => agent.done,
    /** Restarts the agent with the same state. */
    async restart() {
      await agent.stop()
      const before = peer.seen.checkIns.length
      agent = start()
      await until('next start', () => peer.seen.checkIns.length > before)
    },
    /** Returns the last report of a device. */
    reported: (portPath: string) => peer.only().devices.get(portPath),
    errors: () => peer.seen.errors.map((error) => error.code),
  }
  return host
}
