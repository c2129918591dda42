import { buildDevice } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { type AskHub, readFromHub } from '../src/platform/windows/hub.ts'

const GERMAN = 0x0407
const device = buildDevice({
  ...{ vid: '0951', pid: '1666', product: 'DataTraveler 3.0', manufacturer: 'Kingston', serial: '60A44C3FACC0' },
  ...{ portPath: '1-4', interfaces: ['08:06:50'] },
})
const descriptors = Buffer.from(device.descriptors, 'base64')

/** A hub with one device at port 4 that responds as documented. */
const createHub = (
  change: (descriptors: Buffer) => void = () => undefined,
  flags = 0,
): { ask: AskHub; asked: number } => {
  const bytes = Buffer.from(descriptors)
  change(bytes)
  const strings = ['', device.manufacturer, device.product, device.serial]
  const hub = {
    asked: 0,
    ask(code: number, request: Uint8Array): Buffer | undefined {
      hub.asked++
      const sent = Buffer.from(request)
      if (sent.readUInt32LE(0) !== 4) return undefined
      if (code === 0x22_0448) {
        bytes.copy(sent, 4, 0, 18)
        sent[22] = 1
        sent[23] = 2
        return sent
      }
      if (code === 0x22_045c) {
        sent.writeUInt32LE(flags, 12)
        return sent
      }
      const [kind, index, language, room] = [sent[7], sent[6] ?? 0, sent.readUInt16LE(8), sent.readUInt16LE(10)]
      let answer: Buffer
      if (kind === 2) answer = index === 0 ? bytes.subarray(18) : Buffer.alloc(0)
      else if (index === 0) answer = Buffer.from([4, 3, GERMAN & 0xff, GERMAN >> 8])
      else if (language !== GERMAN) return undefined
      else {
        const text = Buffer.from(strings[index] ?? '', 'utf16le')
        answer = Buffer.concat([Buffer.from([text.length + 2, 3]), text])
      }
      return Buffer.concat([sent.subarray(0, 12), answer.subarray(0, room)])
    },
  }
  return hub
}

describe('a device that is read through its hub', () => {
  it('has the descriptors, strings and speed of sysfs', () => {
    expect(readFromHub(createHub().ask, 4)).toEqual({
      descriptors,
      ...{ manufacturer: 'Kingston', product: 'DataTraveler 3.0', serial: '60A44C3FACC0', speedMbps: 480 },
    })
  })

  it.each([
    [1, 5000],
    [5, 10_000],
  ])('at SuperSpeed (flags %i) has its speed', (flags, speedMbps) => {
    expect(readFromHub(createHub(undefined, flags).ask, 4)).toMatchObject({ speedMbps })
  })

  it.each<[string, (bytes: Buffer) => void]>([
    ['claims no device descriptor', (bytes) => bytes.writeUInt8(2, 1)],
    ['claims 200 configurations', (bytes) => bytes.writeUInt8(200, 17)],
    ['claims a configuration of 65,535 bytes', (bytes) => bytes.writeUInt16LE(0xffff, 20)],
    ['claims a configuration of 3 bytes', (bytes) => bytes.writeUInt16LE(3, 20)],
    ['claims another descriptor instead of its configuration', (bytes) => bytes.writeUInt8(4, 19)],
  ])('gives no data if it %s', (_, change) => {
    const hub = createHub(change)
    expect(readFromHub(hub.ask, 4)).toBeUndefined()
    expect(hub.asked).toBeLessThan(20)
  })

  it('gives no data at another port', () => {
    expect(readFromHub(createHub().ask, 5)).toBeUndefined()
  })
})
