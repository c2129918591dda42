import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HostFacts } from '@portcullis/contract/agent-protocol.ts'
import { machineHash, parseReport } from '@portcullis/domain'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { macAnswer, plist } from '../../domain/test/platforms/macos-host.ts'
import { acquireLock, holderOf } from '../src/lock.ts'
import { createMacos, macos, type Run } from '../src/platform/macos/macos.ts'
import { startAgent, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'

const UUID = '564D7F2A-9C11-4B7E-8E5D-3F0A1B2C3D4E'

/** A USB device in the registry of a Mac. */
const device = (port: number, name: string) => ({
  IORegistryEntryID: 4_294_968_000 + port,
  IORegistryEntryLocation: (0x1430_0000 + port * 0x1_0000).toString(16),
  IORegistryEntryName: name,
  locationID: 0x1430_0000 + port * 0x1_0000,
  idVendor: 0x0781,
  idProduct: 0x5581,
  bcdDevice: 0x0100,
  bDeviceClass: 0,
  kUSBProductString: name,
})

/** A Mac that answers the commands of the agent. */
const createMac = () => {
  const mac = {
    devices: [device(1, 'Ultra')],
    scans: 0,
    run(program: string, args: readonly string[]): Buffer {
      const registry = plist({ IORegistryEntryID: 1, IORegistryEntryName: 'Root', children: mac.devices })
      if (program === '/usr/sbin/sysctl') return Buffer.from('0F7C8D5E-1111-4222-8333-444455556666\n')
      if (program === '/usr/sbin/ioreg')
        return Buffer.from(args[0] === '-rd1' ? `    "IOPlatformUUID" = "${UUID}"\n` : registry)
      mac.scans++
      return macAnswer({ registry })
    },
  }
  return mac
}

const platformOf = (run: Run) => createMacos(run).create({})

const deps = {
  agentVersion: '1.2.3',
  localAddress: () => '10.0.0.7',
  enforcement: () => ({ grade: 'before-driver' as const, reason: '' }),
  releaseKey: () => '',
}

describe('the inventory of a Mac', () => {
  it('contains the devices with the registry id of their attachment', () => {
    const mac = createMac()
    const { devices, problems } = platformOf(mac.run).inventory.scan()
    expect(problems).toEqual([])
    const found = devices.get('20-3.1')
    expect([...devices.keys(), found?.instance]).toEqual(['20-3.1', '4294968001'])
    expect(found?.report.product).toBe('Ultra')
    expect(found && parseReport(found.report)).toMatchObject({ vid: '0781', pid: '5581' })
  })

  it('has a stamp that changes when a device is attached again at the same port', () => {
    const mac = createMac()
    const { inventory } = platformOf(mac.run)
    const before = inventory.stamp()
    expect(inventory.stamp()).toBe(before)
    mac.devices = [{ ...device(1, 'Ultra'), IORegistryEntryID: 4_294_969_000 }]
    expect(inventory.stamp()).not.toBe(before)
    expect(mac.scans).toBe(0)
  })

  it('cannot be forged by the name of a device', () => {
    const mac = createMac()
    const forged = '<key>IORegistryEntryID</key><integer>7</integer>'
    mac.devices = [device(1, forged)]
    expect(platformOf(mac.run).inventory.stamp()).toBe('1 4294968001')
  })

  it('is not empty if the commands print nothing: the scan fails', () => {
    const silent = platformOf((program) => (program === '/bin/sh' ? macAnswer({ profiler: '' }) : Buffer.from('')))
    expect(() => silent.inventory.scan()).toThrow('The agent cannot read the USB devices of this Mac')
  })
})

describe('the facts of a Mac', () => {
  it('are valid, name the system, and state that the host is only monitored', () => {
    const facts = platformOf(createMac().run).facts(deps)
    expect(Value.Check(HostFacts, facts.collect())).toBe(true)
    expect(facts.collect()).toMatchObject({
      hostname: 'studio.local',
      osName: 'macOS 14.5',
      architecture: `macos-${process.arch}`,
      model: 'Mac14,13',
      address: '10.0.0.7',
      agentVersion: '1.2.3',
      enforcement: 'observe',
      enforcementReason: 'The agent for macOS only monitors.',
    })
    expect(facts.machineIdHash()).toBe(machineHash(UUID))
  })

  it('are valid even if no command works', () => {
    const facts = platformOf(() => {
      throw new Error('not permitted')
    }).facts(deps)
    expect(Value.Check(HostFacts, facts.collect())).toBe(true)
    expect([facts.machineIdHash(), facts.smbiosHash()]).toEqual([null, null])
  })
})

describe('the agent on a Mac', () => {
  it('locks its state directory without /proc', () => {
    const stateDir = temporaryDir()
    const unlock = acquireLock(stateDir, macos.processes)
    expect(readFileSync(join(stateDir, 'lock'), 'utf8')).toMatch(/\d{2}:\d{2}:\d{2} \d{4}/)
    expect(holderOf(stateDir, macos.processes)).toBe(process.pid)
    expect(() => acquireLock(stateDir, macos.processes)).toThrow('already uses the state directory')
    unlock()
    expect(holderOf(stateDir, macos.processes)).toBeUndefined()
  })

  it('reports devices and their changes, and refuses to be armed', async () => {
    const peer = await startPeer({ nextCheckInSeconds: 0.1 })
    const mac = createMac()
    const timing = { pollMs: 20, resyncMs: 60_000, settleMs: 10, settleMaxMs: 100 }
    const platform = { ...platformOf(mac.run), timing }
    const agent = startAgent(['--server', peer.url, '--token', peer.token, '--state-dir', temporaryDir()], {
      system: { ...macos, create: () => platform },
    })
    try {
      await until('first check-in', () => peer.seen.checkIns.length > 0 && peer.only().devices.size === 1)
      mac.devices = [device(1, 'Ultra'), device(2, 'Cruzer')]
      await until('second device', () => peer.only().devices.has('20-3.2'))
      mac.devices = []
      await until('no devices', () => peer.only().devices.size === 0)
      const scans = mac.scans
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(mac.scans).toBe(scans)
      const id = peer.order('configure', { mode: 'Armed', applyToPresent: true })
      await until('acknowledgement', () => peer.seen.acks.some((ack) => ack.commandId === id))
      expect(peer.seen.acks.find((ack) => ack.commandId === id)).toMatchObject({
        outcome: 'failed',
        message: 'This host cannot block devices. The agent for macOS only monitors.',
      })
      expect(peer.seen.enforcement.every(({ mode }) => mode === 'Free')).toBe(true)
    } finally {
      await agent.stop()
      await peer.stop()
    }
  })
})
