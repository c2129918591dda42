import { classify, fingerprints, interfaceSet, parseDescriptors, parseReport } from '@portcullis/domain'
import { buildDescriptors, hub, networkAdapter, unifyingReceiver1207, webcam } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('parseDescriptors', () => {
  it('reads every field of a device with three interfaces', () => {
    const parsed = parseReport(unifyingReceiver1207())
    expect(parsed).toMatchObject({
      bcdUsb: 0x0200,
      deviceClass: 0,
      maxPacketSize0: 8,
      vid: '046D',
      pid: 'C52B',
      bcdDevice: 0x1207,
      iManufacturer: 1,
      iProduct: 2,
      iSerial: 0,
      numConfigurations: 1,
      problems: [],
    })
    expect(parsed.configurations).toHaveLength(1)
    expect(parsed.configurations[0]).toMatchObject({ value: 1, maxPowerMa: 98, attributes: 0xa0, iConfiguration: 3 })
    expect(parsed.configurations[0]?.interfaces.map((i) => [i.class, i.subclass, i.protocol])).toEqual([
      [3, 1, 1],
      [3, 1, 2],
      [3, 0, 0],
    ])
    expect(parsed.configurations[0]?.interfaces[0]).toMatchObject({
      endpoints: [{ address: 0x81, attributes: 3, maxPacketSize: 8, interval: 10 }],
      hid: { bcdHid: 0x0111, countryCode: 0, reportDescriptorLength: 63 },
    })
  })

  it('reads sizes and currents in the USB 3 encoding', () => {
    const parsed = parseReport(networkAdapter({ maxPowerMa: 288 }))
    expect(parsed).toMatchObject({ maxPacketSize0: 512, numConfigurations: 2, problems: [] })
    expect(parsed.configurations.map((c) => c.maxPowerMa)).toEqual([288, 288])
  })

  it.each([
    [0x0320, 480, 100],
    [0x0320, 5000, 400],
    [0x0200, 480, 100],
    [0x0200, 10_000, 400],
    [0x0320, undefined, 400],
    [0x0200, undefined, 100],
    [0x0320, 0, 400],
  ])('takes the unit of power for version %s at %s Mbit/s: %s mA', (bcdUsb, speedMbps, expected) => {
    const bytes = buildDescriptors({ vid: '0001', pid: '0002', bcdUsb, interfaces: ['08:06:50'] })
    bytes[18 + 8] = 50
    const report = { descriptors: bytes.toString('base64'), ...(speedMbps === undefined ? {} : { speedMbps }) }
    expect(parseReport(report).configurations[0]?.maxPowerMa).toBe(expected)
  })

  it('advances by bLength and ignores wTotalLength', () => {
    const bytes = buildDescriptors({ vid: '0001', pid: '0002', interfaces: ['03:01:01', '08:06:50'] })
    const whole = interfaceSet(parseDescriptors(bytes))
    bytes.writeUInt16LE(9, 18 + 2)
    expect(interfaceSet(parseDescriptors(bytes))).toBe(whole)
    bytes.writeUInt16LE(0xffff, 18 + 2)
    expect(interfaceSet(parseDescriptors(bytes))).toBe(whole)
  })

  it('skips unknown descriptors', () => {
    const bytes = buildDescriptors({ vid: '0001', pid: '0002', interfaces: ['03:01:01'] })
    const odd = Buffer.concat([
      bytes.subarray(0, 27),
      Buffer.from([8, 11, 0, 1, 3, 1, 1, 0, 2, 0x99]),
      bytes.subarray(27),
    ])
    expect(parseDescriptors(odd)).toMatchObject({ problems: [] })
    expect(interfaceSet(parseDescriptors(odd))).toBe('03:01:01')
  })

  it.each([
    ['nothing', Buffer.alloc(0), 'device descriptor has 0 of 18 bytes'],
    ['half a device descriptor', Buffer.from([18, 1, 0, 2, 0, 0, 0, 8, 0x6d]), 'device descriptor has 9 of 18 bytes'],
    ['another type first', Buffer.alloc(18, 9), 'first descriptor has type 9 instead of 1'],
    [
      'a length of zero',
      Buffer.concat([buildDescriptors({ vid: '0001', pid: '0002' }), Buffer.alloc(4)]),
      'of length 0',
    ],
    ['a cut', buildDescriptors({ vid: '0001', pid: '0002', interfaces: ['08:06:50'] }).subarray(0, -3), 'is cut off'],
    ['no configuration', buildDescriptors({ vid: '0001', pid: '0002' }).subarray(0, 18), 'no configuration'],
    [
      'an interface without a configuration',
      Buffer.concat([
        buildDescriptors({ vid: '0001', pid: '0002' }).subarray(0, 18),
        Buffer.from([9, 4, 0, 0, 0, 3, 1, 1, 0]),
      ]),
      'interface outside a configuration',
    ],
  ])('reports a problem for %s', (_, bytes, problem) => {
    expect(parseDescriptors(bytes).problems.join('; ')).toContain(problem)
  })

  it('keeps a keyboard interface outside a configuration', () => {
    const bytes = Buffer.concat([
      buildDescriptors({ vid: '0001', pid: '0002' }).subarray(0, 18),
      Buffer.from([9, 4, 0, 0, 0, 3, 1, 1, 0]),
    ])
    const report = { portPath: '1-1', descriptors: bytes.toString('base64') }
    expect(classify(parseReport(report), report).kind).toBe('Keyboard')
  })

  it('never throws and limits the result for any bytes', () => {
    const check = (bytes: Uint8Array): void => {
      const parsed = parseDescriptors(bytes)
      const report = { portPath: '1-1', descriptors: Buffer.from(bytes).toString('base64') }
      expect(parsed.problems.length).toBeLessThanOrEqual(16)
      expect(parsed.vid).toMatch(/^[0-9A-F]{4}$/)
      const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
      expect(interfaces.length).toBeLessThanOrEqual(512)
      for (const i of interfaces) expect(i.endpoints.length).toBeLessThanOrEqual(32)
      expect(interfaceSet(parsed).length).toBeLessThan(8 * 32 * 10)
      expect(classify(parsed, report).kinds.length).toBeGreaterThan(0)
      expect(fingerprints(parsed, report).exact).toMatch(/^[0-9a-f]{32}$/)
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        check(bytes)
      }),
      { numRuns: 500 },
    )
    const real = [hub(), webcam(), unifyingReceiver1207()].map((r) => Buffer.from(r.descriptors, 'base64'))
    const change = fc.record({ at: fc.nat(400), value: fc.nat(255) })
    fc.assert(
      fc.property(
        fc.constantFrom(...real),
        fc.array(change, { maxLength: 12 }),
        fc.nat(400),
        (bytes, changes, keep) => {
          const mutated = Buffer.from(bytes)
          for (const { at, value } of changes) mutated[at % mutated.length] = value
          check(mutated)
          check(mutated.subarray(0, keep))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('limits the result for 12 KB of interfaces', () => {
    const device = buildDescriptors({ vid: '0001', pid: '0002' }).subarray(0, 27)
    const flood = Buffer.concat([
      device,
      ...Array.from({ length: 1300 }, (_, n) => Buffer.from([9, 4, n & 255, n >> 8, 0, 3, 1, 1, 0])),
    ])
    const parsed = parseDescriptors(flood)
    expect(parsed.configurations.flatMap((c) => c.interfaces)).toHaveLength(512)
    expect(parsed.problems).toContain('more than 512 interfaces')
  })
})

describe('interfaceSet', () => {
  it('sorts the codes and counts alternate settings of a function once', () => {
    expect(interfaceSet(parseReport(webcam()))).toBe('01:01:00 01:02:00 0e:01:00 0e:02:00')
  })

  it('counts two functions of the same kind twice', () => {
    const bytes = buildDescriptors({ vid: '0001', pid: '0002', interfaces: ['03:00:02', '03:00:02'] })
    expect(interfaceSet(parseDescriptors(bytes))).toBe('03:00:02 03:00:02')
  })

  it('separates configurations that differ', () => {
    expect(interfaceSet(parseReport(networkAdapter()))).toBe('ff:ff:00 | 02:06:00 0a:00:00')
  })
})
