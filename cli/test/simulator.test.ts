import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inventoryHash, isSynthetic, parentPortPath, parseReport } from '@portcullis/domain'
import type { DeviceReport } from '@portcullis/features/contract.ts'
import { CheckInRequest, HostFacts } from '@portcullis/features/contract.ts'
import fc from 'fast-check'
import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { evaluate } from '../../domain/test/knowledge-data.ts'
import { readArguments, UsageError } from '../simulator/arguments.ts'
import { createHost } from '../simulator/hosts.ts'
import { createInventory, makeDevice } from '../simulator/inventory.ts'
import { attackTools, type Model, models } from '../simulator/models.ts'
import { createPercentiles } from '../simulator/percentiles.ts'
import { defaultMix, type Platform, platformOf, platforms } from '../simulator/platforms.ts'
import { createRandom } from '../simulator/random.ts'

const hostOf = (index: number, platform: Platform = platformOf(index, defaultMix)) => {
  const random = createRandom(index * 7 + 1)
  const host = createHost(index, random, 'test', platform)
  return { host, inventory: createInventory(host.department, random, platform) }
}

const apply = (
  devices: readonly DeviceReport[],
  change: ReturnType<ReturnType<typeof hostOf>['inventory']['changeDevices']>,
) => {
  const port = 'device' in change ? change.device.portPath : change.portPath
  const others = devices.filter((d) => d.portPath !== port)
  return 'device' in change ? [...others, change.device] : others
}

describe('fleet model', () => {
  it('gives every host 5 to 14 valid device reports on its own ports, including the hubs above them', () => {
    for (let index = 0; index < 500; index++) {
      const { host, inventory } = hostOf(index)
      const devices = inventory.devices()
      expect(devices.length).toBeGreaterThanOrEqual(5)
      expect(devices.length).toBeLessThanOrEqual(14)
      const ports = new Set(devices.map((d) => d.portPath))
      expect(ports.size).toBe(devices.length)
      for (const { portPath } of devices) {
        const parent = parentPortPath(portPath)
        if (parent !== null) expect(ports).toContain(parent)
      }
      const request = {
        bootId: '00000000-0000-4000-8000-000000000000',
        seq: 1,
        inventoryHash: inventory.hash(),
        clock: 0,
        facts: host.facts,
        inventory: devices,
      }
      expect(Check(HostFacts, host.facts)).toBe(true)
      expect(Check(CheckInRequest, request)).toBe(true)
    }
  })

  it.each([10, 100, 1_000])('has 20 % Windows, 70 % Linux and 10 % macOS among %d hosts', (hosts) => {
    const counts = Map.groupBy(
      Array.from({ length: hosts }, (_, i) => platformOf(i, defaultMix)),
      (platform) => platform,
    )
    for (const platform of platforms)
      expect(Math.abs((counts.get(platform)?.length ?? 0) - (hosts * defaultMix[platform]) / 100)).toBeLessThanOrEqual(
        1,
      )
    expect(platformOf(hosts, { windows: 0, linux: 1, macos: 0 })).toBe('linux')
  })

  it('reports the evidence that an agent has on each platform', () => {
    const devicesOf = (platform: Platform) =>
      Array.from({ length: 60 }, (_, i) => hostOf(i, platform).inventory.devices()).flat()
    const shareOf = (devices: readonly DeviceReport[], isSo: (d: DeviceReport) => boolean) =>
      devices.filter(isSo).length / devices.length
    const isGuess = (device: DeviceReport) => isSynthetic(parseReport(device))
    const [linux, windows, macos] = (['linux', 'windows', 'macos'] as const).map(devicesOf) as [
      DeviceReport[],
      DeviceReport[],
      DeviceReport[],
    ]
    expect([shareOf(linux, isGuess), shareOf(macos, isGuess)]).toEqual([0, 1])
    expect(shareOf(windows, isGuess)).toBeGreaterThan(0.08)
    expect(shareOf(windows, isGuess)).toBeLessThan(0.25)
    // A hub that returns no descriptors returns neither strings nor the speed.
    const refused = windows.filter(isGuess)
    expect(shareOf(refused, (d) => d.manufacturer === undefined && d.speedMbps === undefined)).toBe(1)
    expect(shareOf(windows, (d) => d.reportDescriptors !== undefined)).toBeGreaterThan(0.2)
    expect(shareOf([...linux, ...macos], (d) => d.reportDescriptors !== undefined)).toBe(0)
    for (const device of [...windows, ...macos]) expect(parseReport(device).problems).toEqual([])
    expect(hostOf(1, 'windows').host.facts).toMatchObject({
      osName: expect.stringMatching(/^Windows/),
      enforcement: 'observe',
    })
    expect(hostOf(1, 'macos').host.facts).toMatchObject({
      osName: 'macOS',
      vendor: 'Apple Inc.',
      enforcement: 'observe',
    })
  })

  it('gives the same fleet for the same seed, and another for another seed', () => {
    const of = (seed: number) => {
      const random = createRandom(seed)
      const host = createHost(3, random, `seed ${seed}`)
      return JSON.stringify([host, createInventory(host.department, random).devices()])
    }
    expect(of(5)).toBe(of(5))
    expect(of(5)).not.toBe(of(6))
  })

  it('builds descriptors that match the catalogue', () => {
    for (const model of [...Object.values(models).flat(), ...attackTools]) {
      expect(model.vid).toMatch(/^[0-9A-F]{4}$/)
      expect(model.pid).toMatch(/^[0-9A-F]{4}$/)
      for (const revision of model.revisions) expect(revision).toMatch(/^[0-9A-F]{4}$/)
    }
    for (let index = 0; index < 200; index++)
      for (const device of hostOf(index, 'linux').inventory.devices()) {
        const parsed = parseReport(device)
        expect(parsed.problems, `${parsed.vid}:${parsed.pid}`).toEqual([])
        expect(parsed.iSerial !== 0).toBe(device.serial !== undefined)
      }
  })

  it('detects all of its attack tools and no other device as one', () => {
    const random = createRandom(1)
    const levelOf = (model: Model): string | null =>
      evaluate({ ...makeDevice(model, random, true), portPath: '1-1' }).attackTool?.level ?? null
    const named = (some: readonly Model[], isWanted: (level: string | null) => boolean): string[] =>
      some.filter((model) => isWanted(levelOf(model))).map(({ vid, pid }) => `${vid}:${pid}`)
    expect(named(Object.values(models).flat(), (level) => level !== null)).toEqual([])
    expect(named(attackTools, (level) => level === null)).toEqual([])
  })

  it('uses an attack tool on about 3 of 1,000 hosts', () => {
    const attacked = Array.from({ length: 4_000 }, (_, i) => hostOf(i).inventory.isAttacked).filter(Boolean).length
    expect(attacked).toBeGreaterThanOrEqual(2)
    expect(attacked).toBeLessThanOrEqual(40)
  })
})

describe('a device change', () => {
  it('keeps the hash equal to that of the present devices, and always applies to them', () => {
    fc.assert(
      fc.property(fc.nat(5_000), fc.integer({ min: 1, max: 60 }), (index, steps) => {
        const { inventory } = hostOf(index)
        let known: readonly DeviceReport[] = inventory.devices()
        for (let at = 0; at < steps; at++) {
          const change = inventory.changeDevices(at)
          const port = 'device' in change ? change.device.portPath : change.portPath
          const wasThere = known.some((d) => d.portPath === port)
          expect(wasThere).toBe(change.op === 'removed')
          known = apply(known, change)
          expect(inventory.hash()).toBe(inventoryHash(known))
        }
        expect(inventory.devices().length).toBe(known.length)
      }),
      { numRuns: 60 },
    )
  })

  it('attaches the same device again with the same serial number', () => {
    const seen = new Map<string, number>()
    const { inventory } = hostOf(11)
    for (let at = 0; at < 200; at++) {
      const change = inventory.changeDevices(at)
      if (!('device' in change)) continue
      const key = `${change.device.descriptors} ${change.device.serial}`
      seen.set(key, (seen.get(key) ?? 0) + 1)
    }
    expect(seen.size).toBeLessThanOrEqual(4)
    expect(Math.max(...seen.values())).toBeGreaterThan(5)
  })
})

describe('percentiles', () => {
  it('are within 3 % of the exact ones', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.02, max: 60_000, noNaN: true }), { minLength: 1, maxLength: 300 }),
        fc.constantFrom(0.5, 0.95, 0.99),
        (values, share) => {
          const percentiles = createPercentiles()
          for (const value of values) percentiles.add(value)
          const exact = [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1] as number
          expect(percentiles.at(share)).toBeGreaterThanOrEqual(exact * 0.999)
          expect(percentiles.at(share)).toBeLessThanOrEqual(exact * 1.031)
          expect(percentiles.count()).toBe(values.length)
        },
      ),
    )
  })

  it('are 0 without values', () => {
    expect(createPercentiles().at(0.99)).toBe(0)
  })
})

describe('arguments', () => {
  const given = ['--server', 'http://127.0.0.1:8080', '--token', 'pce_a', '--agents', '10']

  it('are parsed from the command line of npm run simulate', () => {
    const args = readArguments([...given, '--interval', '2', '--duration', '30', '--token', 'kiosk=pce_b', '--json'])
    expect(args).toMatchObject({ agents: 10, intervalSeconds: 2, durationSeconds: 30, json: true, seed: 1 })
    expect(args).toMatchObject({ mix: defaultMix, offlineShare: 0.02 })
    expect(readArguments([...given, '--mix', 'windows=1,macos=3']).mix).toEqual({ windows: 1, linux: 0, macos: 3 })
    expect([...args.tokens]).toEqual([
      ['', 'pce_a'],
      ['kiosk', 'pce_b'],
    ])
  })

  it('take the tokens from files', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'simulator-')), 'token')
    writeFileSync(file, 'pce_a\n')
    const server = ['--server', 'http://127.0.0.1:8080', '--agents', '1']
    const args = readArguments([...server, '--token-file', file, '--token-file', `kiosk=${file}`])
    expect([...args.tokens]).toEqual([
      ['', 'pce_a'],
      ['kiosk', 'pce_a'],
    ])
    expect(() => readArguments([...server, '--token-file', `${file}.missing`])).toThrow(UsageError)
  })

  it.each([
    [['--server', 'ftp://x', '--token', 't', '--agents', '1']],
    [['--server', 'http://x', '--agents', '1']],
    [[...given, '--agents', '0']],
    [[...given, '--agents', '1.5']],
    [[...given, '--interval', '0']],
    [[...given, '--duration', 'long']],
    [[...given, '--mix', 'beos=1']],
    [[...given, '--mix', 'linux=0']],
    [[...given, '--mix', 'linux=many']],
    [[...given, '--offline', '2']],
    [[...given, '--unknown']],
  ])('are rejected: %j', (args) => {
    expect(() => readArguments(args)).toThrow(UsageError)
  })
})
