/**
 * Implements the device side of gadgets with gadgetfs (all descriptors come from the device) and FunctionFS (one function
 * of a configfs gadget). Runs in the virtual machine and executes one JSON command per line.
 */
import fs from 'node:fs'
import { promisify } from 'node:util'
import type { DeviceCommand, DeviceCounts, EndpointOf } from '../device-commands.ts'

/** Internal functions, because a read of length 0, which acknowledges a control request, has no public function. */
const raw = (
  process as unknown as {
    binding(name: 'fs'): { read(fd: number, buffer: Buffer, offset: number, length: number, position: number): number }
  }
).binding('fs')
const acknowledge = (fd: number): void => void raw.read(fd, Buffer.alloc(1), 0, 0, -1)

const read = promisify(fs.read)
const write = promisify(fs.write)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const SECTOR = 512
const SECTORS = 2048
const FRAME_EVERY_MS = 20
const KEY_EVERY_MS = 20
const GADGETFS = { dir: '/dev/gadget', ep0: '/dev/gadget/dummy_udc' }
const counts = new Map<string, DeviceCounts>()
const countsOf = (name: string): DeviceCounts => {
  const known = counts.get(name) ?? { framesIn: 0, framesOut: 0, sectors: 0, keystrokes: 0, resets: 0 }
  counts.set(name, known)
  return known
}

/**
 * An Ethernet broadcast with the four status bytes of the adapter. It is longer than 64 bytes, because dummy_hcd takes the
 * first 64 bytes from the device even if no host reads them.
 */
const frame = Buffer.alloc(128)
frame.fill(0xff, 0, 6).set([0x02, 0, 0, 0, 0, 0x66], 6)
frame.writeUInt16BE(0x88b5, 12)

/** Loops of endpoints until the device is removed. The host causes an error when it disables the endpoint. */
const endpointLoops: Record<EndpointOf, (fd: number, name: string) => Promise<void>> = {
  'frames-in': async (fd, name) => {
    for (;;) {
      await write(fd, frame, 0, frame.length)
      countsOf(name).framesIn++
      await pause(FRAME_EVERY_MS)
    }
  },
  'frames-out': async (fd, name) => {
    const buffer = Buffer.alloc(2048)
    for (;;) {
      await read(fd, buffer, 0, buffer.length, null)
      countsOf(name).framesOut++
    }
  },
  keys: async (fd, name) => {
    for (let i = 0; ; i++) {
      await write(fd, Buffer.from([0, 0, 4 + (i % 26), 0, 0, 0, 0, 0]), 0, 8)
      countsOf(name).keystrokes++
      await pause(KEY_EVERY_MS)
    }
  },
  silent: () => Promise.resolve(),
}

const inquiry = Buffer.concat([Buffer.from([0, 0x80, 2, 2, 31, 0, 0, 0]), Buffer.from('Liar    Disk            0001')])

/** Returns the answer to a SCSI command, or undefined for an unknown command. */
const scsi = (command: Buffer, name: string): Buffer | undefined => {
  const code = command[0]
  if (code === 0x12) return inquiry
  if (code === 0x03) return Buffer.from([0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0])
  if (code === 0x1a) return Buffer.from([3, 0, 0, 0])
  if (code === 0x25) {
    const capacity = Buffer.alloc(8)
    capacity.writeUInt32BE(SECTORS - 1, 0)
    capacity.writeUInt32BE(SECTOR, 4)
    return capacity
  }
  if (code === 0x28) {
    const sectors = command.readUInt16BE(7)
    countsOf(name).sectors += sectors
    return Buffer.alloc(sectors * SECTOR, 0x5a)
  }
  return code === 0x00 || code === 0x1b || code === 0x1e || code === 0x35 ? Buffer.alloc(0) : undefined
}

/** Implements the bulk-only transport. If `spoil` returns true, it fails so that the host resets the device. */
const disk = async (toHost: number, fromHost: number, name: string, spoil: () => boolean) => {
  const buffer = Buffer.alloc(64 * 1024)
  for (;;) {
    try {
      const { bytesRead } = await read(fromHost, buffer, 0, 512, null)
      if (bytesRead !== 31 || buffer.toString('latin1', 0, 4) !== 'USBC') continue
      const request = Buffer.from(buffer.subarray(0, 31))
      const wanted = request.readUInt32LE(8)
      const isIn = ((request[12] ?? 0) & 0x80) !== 0
      const answer = scsi(request.subarray(15), name)
      let left = wanted
      if (wanted > 0 && isIn) {
        // Pads a short answer with zeros, so that no endpoint must be halted.
        const data = Buffer.alloc(wanted)
        answer?.copy(data)
        await write(toHost, data, 0, wanted)
        left = 0
      } else if (wanted > 0)
        for (; left > 0; ) left -= (await read(fromHost, buffer, 0, Math.min(left, 65536), null)).bytesRead
      const status = Buffer.alloc(13)
      status.write('USBS')
      request.copy(status, 4, 4, 8)
      // Status 2 is the phase error, after which the host resets the device.
      status[12] = spoil() ? 2 : answer === undefined ? 1 : 0
      await write(toHost, status, 0, 13)
    } catch {
      await pause(20)
    }
  }
}

/** Returns the answer to a control request of a driver, or undefined to stall it. */
const control = (setup: Buffer, report: Buffer | undefined): Buffer | undefined => {
  const [type = 0, request = 0] = setup
  const [value, length] = [setup.readUInt16LE(2), setup.readUInt16LE(6)]
  // A register of the network adapter. 0x0120 is its address; bit 3 of 0x014C means that a cable is connected.
  if (type === 0xc0 && request === 0x05) {
    const answer = Buffer.alloc(length, 0)
    if (value === 0x0120) Buffer.from([2, 0, 0, 0, 0, 0x66]).copy(answer)
    if (value === 0x014c) answer[0] = 0x08
    return answer
  }
  if (type === 0x81 && request === 0x06 && value >>> 8 === 0x22) return report?.subarray(0, length)
  // GET_MAX_LUN
  if (type === 0xa1 && request === 0xfe) return Buffer.from([0])
  return undefined
}

/** Reads and answers requests of the host to endpoint 0. */
const serveControl = async (
  fd: number,
  {
    isGadgetfs,
    report,
    onEvent,
  }: { isGadgetfs: boolean; report: Buffer | undefined; onEvent: (event: string, setup: Buffer) => void },
): Promise<void> => {
  const names = isGadgetfs
    ? ['nop', 'connect', 'disconnect', 'setup', 'suspend']
    : ['bind', 'unbind', 'enable', 'disable', 'setup', 'suspend', 'resume']
  for (;;) {
    const events = Buffer.alloc(12)
    let bytesRead = 0
    try {
      bytesRead = (await read(fd, events, 0, 12, null)).bytesRead
    } catch {
      // A previous request was aborted, for example by a reset.
    }
    if (bytesRead < 12) continue
    const event = names[events[8] ?? 0] ?? ''
    const setup = events.subarray(0, 8)
    onEvent(event, setup)
    if (event !== 'setup') continue
    const isIn = ((setup[0] ?? 0) & 0x80) !== 0
    const length = setup.readUInt16LE(6)
    try {
      if (isIn) {
        const answer = control(setup, report)
        // Reading where the host expects data stalls the request.
        if (answer === undefined) acknowledge(fd)
        else fs.writeSync(fd, answer)
      } else if (length > 0) {
        // Writing where the host sends data stalls it as well. No driver here needs an answer, and a read could block forever.
        fs.writeSync(fd, Buffer.alloc(1))
      } else acknowledge(fd)
    } catch {
      // The request is stalled, or another one arrived before the answer.
    }
  }
}

/** Attaches a device. Killing this process removes it at any moment. */
const plugGadgetfs = ({ name, descriptors, endpoints, report }: Extract<DeviceCommand, { do: 'plug' }>): void => {
  const ep0 = fs.openSync(GADGETFS.ep0, 'r+')
  let isOpen = false
  fs.writeSync(ep0, Buffer.from(descriptors, 'base64'))
  const onEvent = (event: string, setup: Buffer): void => {
    const isConfigured = event === 'setup' && setup[0] === 0 && setup[1] === 0x09 && setup[2] !== 0
    if (!isConfigured || isOpen) return
    isOpen = true
    for (const { file, config, does } of endpoints) {
      const fd = fs.openSync(`${GADGETFS.dir}/${file}`, 'r+')
      fs.writeSync(fd, Buffer.from(config, 'base64'))
      const run = (): void => void endpointLoops[does](fd, name).catch(() => pause(50).then(run))
      run()
    }
  }
  void serveControl(ep0, {
    isGadgetfs: true,
    report: report === undefined ? undefined : Buffer.from(report, 'base64'),
    onEvent,
  })
}

/** Provides one function of a configfs gadget. The function is usable after its descriptors are written. */
const offerFunction = ({
  name,
  does,
  dir,
  descriptors,
  strings,
  becomes,
}: Extract<DeviceCommand, { do: 'offer' }>): void => {
  const ep0 = fs.openSync(`${dir}/ep0`, 'r+')
  fs.writeSync(ep0, Buffer.from(descriptors, 'base64'))
  fs.writeSync(ep0, Buffer.from(strings, 'base64'))
  let answers = 0
  const spoil = (): boolean => {
    if (becomes === undefined || ++answers < becomes.afterAnswers) return false
    for (const [file, value] of Object.entries(becomes.attributes)) fs.writeFileSync(file, value)
    countsOf(name).resets++
    return true
  }
  if (does === 'disk') void disk(fs.openSync(`${dir}/ep1`, 'r+'), fs.openSync(`${dir}/ep2`, 'r+'), name, spoil)
  void serveControl(ep0, {
    isGadgetfs: false,
    report: undefined,
    onEvent: (event) => {
      if (event === 'bind') answers = 0
    },
  })
}

/** Types on a boot keyboard of usb_f_hid, which has a device node while its gadget is attached. */
const typeOnto = async (node: string, name: string): Promise<void> => {
  for (let i = 0; ; i++) {
    try {
      const fd = fs.openSync(node, 'r+')
      try {
        for (; ; i++) {
          await write(fd, Buffer.from([0, 0, 4 + (i % 26), 0, 0, 0, 0, 0]), 0, 8)
          countsOf(name).keystrokes++
          await pause(KEY_EVERY_MS)
        }
      } finally {
        fs.closeSync(fd)
      }
    } catch {
      await pause(50)
    }
  }
}

const obey = (command: DeviceCommand): unknown => {
  if (command.do === 'plug') plugGadgetfs(command)
  else if (command.do === 'offer') offerFunction(command)
  else if (command.do === 'type') void typeOnto(command.node, command.name)
  else return countsOf(command.name)
  return 'done'
}

const serve = async (channel: string): Promise<void> => {
  // Opened for writing as well, so that there is no end of file when a writer closes.
  const commands = fs.openSync(`${channel}.in`, 'r+')
  let text = ''
  const buffer = Buffer.alloc(65536)
  for (;;) {
    const { bytesRead } = await read(commands, buffer, 0, buffer.length, null)
    text += buffer.toString('utf8', 0, bytesRead)
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      let answer: unknown
      try {
        answer = obey(JSON.parse(line))
      } catch (error) {
        answer = `failed: ${(error as Error).stack}`
      }
      fs.writeFileSync(`${channel}.out`, `${JSON.stringify(answer)}\n`)
    }
  }
}
await serve(process.argv[2] ?? '')
