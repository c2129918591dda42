import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A device as it answers on the wire. */
export interface Emulated {
  device: Buffer
  /** Complete configuration descriptors. */
  configurations: readonly Buffer[]
  /** String descriptors from index 1. */
  strings?: readonly string[]
  /** Answers a control request that is not a standard one. Undefined stalls it. */
  control?(setup: Setup, data: Buffer): Buffer | undefined
  /** Takes a transfer to an endpoint. */
  out?(endpoint: number, data: Buffer): void
  /** Returns the answer for an endpoint; undefined until there is one. */
  in?(endpoint: number, length: number): Buffer | undefined
}

export interface Setup {
  type: number
  request: number
  value: number
  index: number
  length: number
}

const [SUBMIT, UNLINK, SUBMITTED, UNLINKED] = [1, 2, 3, 4]
const HEAD = 48
const EPIPE = -32
const ECONNRESET = -104

const stringDescriptor = (text: string): Buffer => {
  const units = Buffer.from(text, 'utf16le')
  return Buffer.concat([Buffer.from([units.length + 2, 3]), units])
}

/** Answers a standard request of the host (USB 2.0, 9.4). Undefined stalls it. */
const standard = (
  device: Emulated,
  state: { configuration: number },
  { type, request, value }: Setup,
): Buffer | undefined => {
  const nothing = Buffer.alloc(0)
  if (request === 6 && type === 0x80) {
    const [kind, index] = [value >> 8, value & 0xff]
    if (kind === 1) return device.device
    if (kind === 2) return device.configurations[index]
    if (kind === 3 && index === 0) return Buffer.from([4, 3, 0x09, 0x04])
    const text = kind === 3 ? device.strings?.[index - 1] : undefined
    return text === undefined ? undefined : stringDescriptor(text)
  }
  if (request === 9) {
    state.configuration = value
    return nothing
  }
  if (request === 8) return Buffer.from([state.configuration])
  if (request === 0) return Buffer.from([0, 0])
  if (request === 10) return Buffer.from([0])
  return [1, 3, 11].includes(request) ? nothing : undefined
}

/** Serves one attached device until the connection ends. Returns a function that looks for answers of waiting endpoints. */
const attach = (device: Emulated, socket: Socket, first: Buffer) => {
  let received = first
  const state = { configuration: 0 }
  let waiting: { seq: number; endpoint: number; length: number }[] = []
  const answer = (seq: number, status: number, length: number, data?: Buffer): void => {
    const head = Buffer.alloc(HEAD)
    head.writeUInt32BE(SUBMITTED as number, 0)
    head.writeUInt32BE(seq, 4)
    head.writeInt32BE(status, 20)
    head.writeUInt32BE(length, 24)
    socket.write(data === undefined ? head : Buffer.concat([head, data]))
  }
  const poll = (): void => {
    const still: typeof waiting = []
    for (const one of waiting) {
      const data = still.some(({ endpoint }) => endpoint === one.endpoint)
        ? undefined
        : device.in?.(one.endpoint, one.length)
      if (data === undefined) still.push(one)
      else answer(one.seq, 0, Math.min(data.length, one.length), data.subarray(0, one.length))
    }
    waiting = still
  }
  const onControl = (seq: number, setup: Setup, data: Buffer): void => {
    const given =
      (setup.type & 0x60) === 0
        ? (standard(device, state, setup) ?? device.control?.(setup, data))
        : device.control?.(setup, data)
    const isIn = (setup.type & 0x80) !== 0
    const part = given?.subarray(0, setup.length)
    if (part === undefined) answer(seq, EPIPE, 0)
    else if (isIn) answer(seq, 0, part.length, part)
    else answer(seq, 0, data.length)
  }
  const onMessage = (head: Buffer, data: Buffer): void => {
    const [command, seq, isIn, endpoint] = [0, 4, 12, 16].map((at) => head.readUInt32BE(at)) as [
      number,
      number,
      number,
      number,
    ]
    if (command === UNLINK) {
      const target = head.readUInt32BE(20)
      const before = waiting.length
      waiting = waiting.filter((one) => one.seq !== target)
      const reply = Buffer.alloc(HEAD)
      reply.writeUInt32BE(UNLINKED as number, 0)
      reply.writeUInt32BE(seq, 4)
      reply.writeInt32BE(before > waiting.length ? ECONNRESET : 0, 20)
      socket.write(reply)
    } else if (endpoint === 0) {
      const setup = {
        type: head[40] ?? 0,
        request: head[41] ?? 0,
        value: head.readUInt16LE(42),
        index: head.readUInt16LE(44),
        length: head.readUInt16LE(46),
      }
      onControl(seq, setup, data)
    } else if (isIn === 1) waiting.push({ seq, endpoint, length: head.readUInt32BE(24) })
    else {
      device.out?.(endpoint, data)
      answer(seq, 0, data.length)
    }
  }
  const onData = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk])
    while (received.length >= HEAD) {
      const hasData = received.readUInt32BE(0) === SUBMIT && received.readUInt32BE(12) === 0
      const end = HEAD + (hasData ? received.readUInt32BE(24) : 0)
      if (received.length < end) break
      onMessage(received.subarray(0, HEAD), received.subarray(HEAD, end))
      received = received.subarray(end)
    }
    poll()
  }
  socket.on('data', onData)
  onData(Buffer.alloc(0))
}

/**
 * Serves emulated devices by USB/IP (Documentation/usb/usbip_protocol.rst), so every byte of a device is under control, and
 * its counters are in this process. A connection begins with the name of a device and a line end instead of an import.
 */
export const serveDevices = async () => {
  const devices = new Map<string, Emulated>()
  const sockets = new Map<string, Socket>()
  const server = createServer((socket) => {
    let received = Buffer.alloc(0)
    const onName = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk])
      const end = received.indexOf('\n')
      if (end < 0) return
      const name = received.toString('latin1', 0, end)
      const device = devices.get(name)
      if (device === undefined) return void socket.destroy()
      socket.off('data', onName)
      socket.setNoDelay(true)
      sockets.set(name, socket)
      attach(device, socket, received.subarray(end + 1))
    }
    socket.on('data', onName)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    offer: (name: string, device: Emulated): void => void devices.set(name, device),
    /** Pulls a device out. */
    detach: (name: string): void => void sockets.get(name)?.destroy(),
    stop: (): void => {
      for (const socket of sockets.values()) socket.destroy()
      server.close()
    },
  }
}
