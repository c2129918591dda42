import { HostFacts } from '@portcullis/contract/agent-protocol.ts'
import { machineHash } from '@portcullis/domain'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { BOOT_KEY, windowsBoot } from '../src/platform/windows/boot.ts'
import { createWindowsFacts } from '../src/platform/windows/facts.ts'
import { dwordValue, type RegistryKey, textValue } from '../src/platform/windows/registry.ts'
import { parseSmbios } from '../src/platform/windows/smbios.ts'
import { createMemoryRegistry } from './registry-memory.ts'

const structure = (type: number, fields: readonly number[], ...strings: string[]): Buffer =>
  Buffer.concat([
    Buffer.from([type, 4 + fields.length, 0, 0, ...fields]),
    ...(strings.length === 0 ? [Buffer.from([0])] : strings.map((text) => Buffer.from(`${text}\0`, 'latin1'))),
    Buffer.from([0]),
  ])
const uuid = Buffer.from('33221100554477668899aabbccddee0f', 'hex')
const system = structure(1, [1, 2, 3, 4, ...uuid, 6, 5, 6], 'LENOVO', '21AH00B8GE', '1', 'PF3', 'SKU 21AH', 'ThinkPad')
const chassis = structure(3, [1, 0x80 | 10, 0], 'LENOVO')

/** A table as Windows returns it. */
const table = (version: readonly [number, number], ...structures: Buffer[]): Uint8Array => {
  const data = Buffer.concat([...structures, structure(127, [])])
  const header = Buffer.from([0, ...version, 0, 0, 0, 0, 0])
  header.writeUInt32LE(data.length, 4)
  return Buffer.concat([header, data])
}

describe('SMBIOS', () => {
  it('reads vendor, model, SKU, chassis and UUID', () => {
    expect(parseSmbios(table([3, 2], structure(0, [1, 2], 'bios'), structure(17, []), system, chassis))).toEqual({
      vendor: 'LENOVO',
      model: '21AH00B8GE',
      sku: 'SKU 21AH',
      chassis: 10,
      uuid: '00112233-4455-6677-8899-aabbccddee0f',
    })
  })

  it('reads the UUID of versions before 2.6 as Linux does', () => {
    expect(parseSmbios(table([2, 5], system)).uuid).toBe('33221100-5544-7766-8899-aabbccddee0f')
  })

  it('uses only the first structure of a type', () => {
    const other = structure(1, [1, 2, 3, 4, ...uuid], 'OTHER', 'OTHER')
    expect(parseSmbios(table([3, 0], system, other)).vendor).toBe('LENOVO')
  })

  it('reads any bytes without failing', () => {
    const whole = Buffer.from(table([3, 2], system, chassis))
    for (let length = 0; length < whole.length; length++) {
      const facts = parseSmbios(whole.subarray(0, length))
      expect(['', 'LENOVO']).toContain(facts.vendor)
    }
    for (let at = 0; at < whole.length; at++)
      for (const value of [0, 1, 127, 255]) {
        const changed = Buffer.from(whole)
        changed[at] = value
        parseSmbios(changed)
      }
  })
})

const VERSION = 'HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion' satisfies RegistryKey

const windows = (build: string, values: Record<string, string | number> = {}) => {
  const memory = createMemoryRegistry()
  const all = {
    ...{ ProductName: 'Windows 10 Pro', CurrentBuildNumber: build, DisplayVersion: '23H2', InstallationType: 'Client' },
    ...{ CurrentMajorVersionNumber: 10, CurrentMinorVersionNumber: 0, UBR: 4317 },
    ...values,
  }
  for (const [name, value] of Object.entries(all))
    memory.registry.write(VERSION, name, typeof value === 'number' ? dwordValue(value) : textValue(value))
  memory.registry.writeText('HKLM\\SOFTWARE\\Microsoft\\Cryptography', 'MachineGuid', 'AB-01')
  return memory
}
const factsOf = ({ registry }: ReturnType<typeof windows>, firmware = () => table([3, 2], system, chassis)) =>
  createWindowsFacts({
    registry,
    firmware,
    agentVersion: '1.2.3',
    localAddress: () => '192.0.2.7',
    enforcement: () => ({ grade: 'observe', reason: 'preview' }),
    releaseKey: () => '',
    network: () => ({
      Ethernet: [
        { address: '192.0.2.7', netmask: '', family: 'IPv4', mac: '00:15:5D:01:02:03', internal: false, cidr: null },
      ],
      'Loopback Pseudo-Interface 1': [
        { address: '127.0.0.1', netmask: '', family: 'IPv4', mac: '00:00:00:00:00:00', internal: true, cidr: null },
      ],
    }),
  })

describe('facts of a Windows host', () => {
  it('contain version, hardware and network', () => {
    const facts = factsOf(windows('22631')).collect()
    expect(Value.Check(HostFacts, facts)).toBe(true)
    expect(facts).toMatchObject({
      osName: 'Windows 11 Pro',
      osVersion: '23H2 (10.0.22631.4317)',
      osBuild: '10.0.22631.4317',
      vendor: 'LENOVO',
      model: '21AH00B8GE',
      chassis: 'Notebook',
      sku: 'SKU 21AH',
      nics: [{ name: 'Ethernet', mac: '00:15:5d:01:02:03', addresses: ['192.0.2.7'], isUp: true }],
    })
  })

  it('keep the name of Windows 10 and of servers', () => {
    expect(factsOf(windows('19045')).collect().osName).toBe('Windows 10 Pro')
    const server = windows('26100', { ProductName: 'Windows Server 2025 Standard', InstallationType: 'Server' })
    expect(factsOf(server).collect().osName).toBe('Windows Server 2025 Standard')
  })

  it.each([
    ['values of the wrong type', { CurrentBuildNumber: 7, UBR: 'x', ProductName: 3, DisplayVersion: 4 }],
    ['values out of range', { CurrentBuildNumber: '99999999999', CurrentMajorVersionNumber: 0xffffffff }],
    ['hostile texts', { ProductName: `\u202e\u0007${'A'.repeat(10_000)}`, DisplayVersion: '\n'.repeat(500) }],
  ] as const)('are valid with %s', (_, values) => {
    const facts = factsOf(windows('22631', values), () => {
      throw new Error('no firmware')
    }).collect()
    expect(Value.Errors(HostFacts, facts)).toEqual([])
    expect(facts.osName).not.toMatch(/[\u202e\u0007\n]/)
  })

  it('are valid if Windows refuses everything', () => {
    const memory = windows('22631')
    memory.refuse('HKLM\\SOFTWARE', ['query'])
    const facts = factsOf(memory, () => new Uint8Array())
    expect(facts.collect()).toMatchObject({ osName: 'Windows', osVersion: '', vendor: '', chassis: '' })
    expect([facts.machineIdHash(), facts.smbiosHash()]).toEqual([null, null])
  })

  it('identify the machine as the agent for Linux does', () => {
    const facts = factsOf(windows('22631'))
    expect(facts.machineIdHash()).toBe(machineHash('ab-01'))
    expect(facts.smbiosHash()).toBe(machineHash('00112233-4455-6677-8899-aabbccddee0f'))
  })
})

describe('the boot of Windows', () => {
  it('keeps its ID until a restart', () => {
    const { registry, restart } = createMemoryRegistry()
    const first = windowsBoot(registry)
    expect(first.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(windowsBoot(registry).id).toBe(first.id)
    restart()
    expect(windowsBoot(registry).id).not.toBe(first.id)
    const before = first.elapsed()
    expect(before).toBeGreaterThan(0)
  })

  it('gets a new ID if the stored one is damaged, and no ID if Windows refuses', () => {
    const { registry, refuse } = createMemoryRegistry()
    windowsBoot(registry)
    registry.writeText(BOOT_KEY, 'Id', 'x'.repeat(5000))
    const { id } = windowsBoot(registry)
    expect(registry.readText(BOOT_KEY, 'Id')).toBe(id)
    registry.writeDword(BOOT_KEY, 'Id', 1)
    expect(windowsBoot(registry).id).toBe('')
    refuse(BOOT_KEY, ['createVolatile'])
    expect(windowsBoot(registry).id).toBe('')
  })
})
