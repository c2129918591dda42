/** Announces arrivals and removals as Wine's Plug and Play service does, for programs under Wine. */
import { connect } from 'node:net'
import { guidBytes } from '../../../agent/src/platform/windows/koffi.ts'

export const ARRIVAL = 0x8000
export const REMOVAL = 0x8004

const u16 = (value: number): Buffer => Buffer.from([value & 0xff, value >> 8])
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const pad = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)])

/** A message of DCE/RPC, version 5.0, little-endian. */
const pdu = (type: number, call: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([5, 0, type, 3, 0x10, 0, 0, 0]), u16(16 + body.length), u16(0), u32(call), body])

const bind = pdu(
  11,
  1,
  Buffer.concat([
    ...[u16(4280), u16(4280), u32(0), u32(1), u16(0), u16(1)],
    ...[guidBytes('57c680ac-7bce-4f39-97fd-ffea566754d5'), u32(0)],
    ...[guidBytes('8a885d04-1ceb-11c9-9fe8-08002b104860'), u32(2)],
  ]),
)

const announcement = (code: number): Buffer => {
  const name = Buffer.from('\\\\?\\usb#vid_0781&pid_5581#1\0', 'utf16le')
  const data = pad(
    Buffer.concat([...[u32(0), u32(5), u32(0)], ...[guidBytes('a5dcbf10-6530-11d2-901f-00c04fb951ed'), name]]),
  )
  data.writeUInt32LE(data.length, 0)
  const path = pad(Buffer.concat([u32(1), u32(0), u32(1), u16(0)]))
  const stub = Buffer.concat([path, u32(code), u32(data.length), data, u32(data.length)])
  return pdu(0, 2, Buffer.concat([u32(stub.length), u16(0), u16(3), stub]))
}

/** Resolves after Wine has sent the announcement to all windows. */
export const announce = (code: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let answers = 0
    const pipe = connect('\\\\.\\pipe\\wine_plugplay', () => pipe.write(bind))
    pipe.on('error', reject)
    pipe.on('data', () => {
      answers++
      if (answers === 1) pipe.write(announcement(code))
      else {
        pipe.destroy()
        resolve()
      }
    })
  })
