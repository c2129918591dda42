import type { Emulated, Setup } from './usbip.ts'

type Endpoint = readonly [address: number, attributes: number, size: number, interval: number]
interface Interface {
  number?: number
  code: readonly [number, number, number]
  /** Index of its name. */
  name?: number
  /** Descriptors of its class. */
  extra?: readonly number[]
  endpoints?: readonly Endpoint[]
}

const BULK = 2
const INTERRUPT = 3
const bulk = (address: number): Endpoint => [address, BULK, 512, 0]
const pair = (index: number): Endpoint[] => [bulk(0x80 + index), bulk(index)]
const le16 = (value: number): number[] => [value & 0xff, value >> 8]

const configuration = (value: number, interfaces: readonly Interface[], attributes = 0xc0): Buffer => {
  const body = interfaces.flatMap(({ number, code, name = 0, extra = [], endpoints = [] }, index) => [
    ...[9, 4, number ?? index, 0, endpoints.length, ...code, name, ...extra],
    ...endpoints.flatMap(([address, kind, size, interval]) => [7, 5, address, kind, ...le16(size), interval]),
  ])
  return Buffer.from([9, 2, ...le16(9 + body.length), interfaces.length, value, 0, attributes, 50, ...body])
}

const deviceDescriptor = (vid: number, pid: number, configurations: number, code = [0, 0, 0]): Buffer =>
  Buffer.from([18, 1, 0, 2, ...code, 64, ...le16(vid), ...le16(pid), 0, 1, 1, 2, 3, configurations])

/** A device that counts what a program does with it. */
export interface Subject {
  emulated: Emulated
  /** Returns how often a program did what shows that it uses the device. */
  uses(): number
  reset(): void
}

const make = (
  ids: readonly [vid: number, pid: number],
  configurations: readonly Buffer[],
  strings: readonly string[],
  parts: Pick<Emulated, 'control' | 'in'> & {
    /** Returns whether a transfer shows that a program uses the device. */
    isUse?(endpoint: number, data: Buffer): boolean
    out?(endpoint: number, data: Buffer): void
  } = {},
): Subject => {
  let count = 0
  return {
    emulated: {
      device: deviceDescriptor(ids[0], ids[1], configurations.length),
      configurations,
      strings: ['A maker', ...strings],
      ...parts,
      out(endpoint, data) {
        if (parts.isUse?.(endpoint, data) === true) count++
        parts.out?.(endpoint, data)
      },
    },
    uses: () => count,
    reset: () => {
      count = 0
    },
  }
}

/** Answers SCSI commands of usb-storage (bulk only) as a disk of 1 MiB, or as a CD without a medium. */
const scsi = (kind: 'disk' | 'cd') => {
  const answers: Buffer[] = []
  const csw = (tag: Buffer, status: number): Buffer =>
    Buffer.concat([Buffer.from('USBS'), tag, Buffer.alloc(4), Buffer.from([status])])
  const inquiry = Buffer.alloc(36, 0x20)
  Buffer.from([kind === 'cd' ? 5 : 0, 0x80, 4, 2, 31, 0, 0, 0]).copy(inquiry)
  inquiry.write('A maker ', 8)
  inquiry.write(kind === 'cd' ? 'Installer       ' : 'Stick           ', 16)
  inquiry.write('1.00', 32)
  const capacity = Buffer.from([0, 0, 7, 0xff, 0, 0, 2, 0])
  const dataOf = (command: Buffer, length: number): Buffer | undefined => {
    const code = command[0]
    if (code === 0x12) return (command[1] ?? 0) & 1 ? undefined : inquiry
    if (code === 0x03)
      return Buffer.from([
        0x70,
        0,
        kind === 'cd' ? 2 : 5,
        0,
        0,
        0,
        0,
        10,
        0,
        0,
        0,
        0,
        kind === 'cd' ? 0x3a : 0x20,
        0,
        0,
        0,
        0,
        0,
      ])
    if (kind === 'cd') return undefined
    if (code === 0x25) return capacity
    if (code === 0x1a) return Buffer.from([3, 0, 0, 0])
    if (code === 0x28) return Buffer.alloc(length)
    return [0x00, 0x1e, 0x35].includes(code ?? -1) ? Buffer.alloc(0) : undefined
  }
  return {
    out(_endpoint: number, data: Buffer): void {
      if (data.toString('latin1', 0, 4) !== 'USBC') return
      const length = data.readUInt32LE(8)
      const answer = dataOf(data.subarray(15, 15 + (data[14] ?? 0)), length)
      const isIn = ((data[12] ?? 0) & 0x80) !== 0
      if (isIn && length > 0) answers.push(answer ?? Buffer.alloc(0))
      answers.push(csw(data.subarray(4, 8), answer === undefined ? 1 : 0))
    },
    in: (): Buffer | undefined => answers.shift(),
    clear: () => void answers.splice(0),
  }
}

/** An iPhone: usbmuxd switches it to its last configuration and claims the interface for its protocol there. */
const iPhone = (): Subject => {
  const ptp: Interface = { code: [6, 1, 1], endpoints: [...pair(2), [0x83, INTERRUPT, 64, 10]] }
  const mux: Interface = { code: [0xff, 0xfe, 2], endpoints: [bulk(0x04), bulk(0x85)] }
  const tether: Interface = { code: [0xff, 0xfd, 1], endpoints: pair(6) }
  return make(
    [0x05ac, 0x12a8],
    [
      configuration(1, [ptp]),
      configuration(2, [ptp]),
      configuration(3, [ptp, mux]),
      configuration(4, [ptp, mux, tether]),
    ],
    ['iPhone', '000081200011223344556677'],
    {
      control: ({ request, length }: Setup) =>
        request === 0x45 ? Buffer.from([3, 3, 3, 0]) : request === 0x52 ? Buffer.alloc(length) : undefined,
      isUse: (endpoint) => endpoint === 4,
    },
  )
}

/** A modem that is a CD with its installer until usb_modeswitch ejects it. */
const modem = (): Subject => {
  const cd = scsi('cd')
  return make([0x19d2, 0x2000], [configuration(1, [{ code: [8, 6, 0x50], endpoints: pair(1) }])], ['Modem', 'M1'], {
    out: cd.out,
    in: cd.in,
    // The command with which usb_modeswitch switches this model (19d2:2000).
    isUse: (_endpoint, data) => data[15] === 0x85,
  })
}

/** A player that only the probe of libmtp recognises, by the name of its interface. */
const player = (): Subject =>
  make(
    [0x0e8d, 0x2fff],
    [configuration(1, [{ code: [0xff, 0xff, 0], name: 4, endpoints: [...pair(1), [0x82, INTERRUPT, 64, 10]] }])],
    ['Player', 'P1', 'MTP'],
  )

/** A camera that can wake the host. */
const camera = (): Subject =>
  make(
    [0x04b0, 0x0fff],
    [configuration(1, [{ code: [6, 1, 1], endpoints: [...pair(1), [0x82, INTERRUPT, 64, 10]] }], 0xa0)],
    ['Camera', 'C1'],
  )

const updatable = (): Subject =>
  make(
    [0x1fc9, 0x000c],
    [configuration(1, [{ code: [0xfe, 1, 2], name: 4, extra: [9, 0x21, 0x0b, 0xff, 0, 0, 8, 0x10, 1] }])],
    ['Boot loader', 'D1', 'Flash'],
    {
      control: ({ request }) =>
        request === 3 ? Buffer.from([0, 0, 0, 0, 2, 0]) : request === 5 ? Buffer.from([2]) : Buffer.alloc(0),
    },
  )

const fingerprintReader = (): Subject =>
  make(
    [0x27c6, 0x6496],
    [configuration(1, [{ code: [0xff, 0, 0], endpoints: [bulk(0x83), bulk(0x01)] }])],
    ['Goodix USB2.0 MISC', 'UIDA1B2C3D4_XXXX_MOC_B0'],
  )

const printer = (): Subject => {
  const ipp = (index: number): Interface => ({ code: [7, 1, 4], endpoints: pair(index) })
  const answers = new Set<number>()
  return make([0x03f0, 0x0f2a], [configuration(1, [ipp(1), ipp(2), ipp(3)])], ['Printer', 'R1'], {
    isUse: (_endpoint, data) => data.toString('latin1').includes('HTTP/1.1'),
    out: (endpoint, data) => void (data.toString('latin1').includes('HTTP/1.1') && answers.add(endpoint)),
    // Without an answer, ipp-usb resets the printer again and again.
    in: (endpoint) =>
      answers.delete(endpoint) ? Buffer.from('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n') : undefined,
  })
}

const smartCardReader = (): Subject => {
  const answers: Buffer[] = []
  const extra = [
    54,
    0x21,
    0x10,
    1,
    0,
    7,
    3,
    0,
    0,
    0,
    ...[0xa0, 0x0f, 0, 0],
    ...[0xa0, 0x0f, 0, 0],
    0,
    ...[0, 0x2a, 0, 0],
    ...[0, 0x2a, 0, 0],
    0,
    ...[0xfe, 0, 0, 0],
    ...[0, 0, 0, 0],
    ...[0, 0, 0, 0],
    ...[0x30, 4, 1, 0],
    ...[0x0f, 1, 0, 0],
    0,
    0,
    0,
    0,
    0,
    1,
  ]
  return make(
    [0x08e6, 0x3437],
    [configuration(1, [{ code: [0x0b, 0, 0], extra, endpoints: [...pair(1), [0x82, INTERRUPT, 8, 16]] }])],
    ['Reader', 'S1'],
    {
      in: (endpoint) => (endpoint === 1 ? answers.shift() : undefined),
      isUse: (_endpoint, data) => data[0] === 0x65,
      // Slot status: no card.
      out: (_endpoint, data) => void answers.push(Buffer.from([0x81, 0, 0, 0, 0, data[5] ?? 0, data[6] ?? 0, 2, 0, 0])),
    },
  )
}

const mobileModem = (): Subject =>
  make(
    [0x2c7c, 0x9999],
    [
      configuration(1, [
        {
          code: [2, 2, 1],
          extra: [5, 0x24, 0, 0x10, 1, 5, 0x24, 1, 0, 1, 4, 0x24, 2, 2, 5, 0x24, 6, 0, 1],
          endpoints: [[0x82, INTERRUPT, 16, 10]],
        },
        { code: [0x0a, 0, 0], endpoints: pair(1) },
      ]),
    ],
    ['Mobile modem', 'T1'],
    {
      control: ({ length, type }) => ((type & 0x80) === 0 ? Buffer.alloc(0) : Buffer.alloc(length)),
      // ModemManager sends a command byte by byte.
      isUse: (_endpoint, data) => data[0] === 0x41,
    },
  )

const disk = (): Subject => {
  const stick = scsi('disk')
  return make([0x0951, 0x1666], [configuration(1, [{ code: [8, 6, 0x50], endpoints: pair(1) }])], ['Stick', 'K1'], {
    out: stick.out,
    in: stick.in,
    control: ({ request }) => (request === 0xfe ? Buffer.from([0]) : undefined),
  })
}

export const subjects = {
  iPhone,
  modem,
  player,
  camera,
  updatable,
  fingerprintReader,
  printer,
  smartCardReader,
  mobileModem,
  disk,
}
