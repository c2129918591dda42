/** Runs under Wine: measures the time from an announcement of Wine's Plug and Play service to the agent's event. */
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createArrivals, listenToWindow } from '../../../agent/src/platform/windows/arrivals.ts'
import { guidBytes, loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createSetupApi } from '../../../agent/src/platform/windows/setup-api.ts'

const ARRIVAL = 0x8000
const REMOVAL = 0x8004

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

const announce = (code: number): Promise<void> =>
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

const koffi = loadKoffi()
const api = createSetupApi(koffi)
let events = 0
let seen = 0
let isListening = false
const arrivals = createArrivals({
  stamp: api.stamp,
  onEvent: () => {
    events++
    seen = performance.now()
  },
  listen: (onEvent) => {
    const listener = listenToWindow(koffi, onEvent)
    isListening = listener !== undefined
    return listener
  },
})
const measure = async (): Promise<void> => {
  await sleep(500)
  const before = events
  const delays: number[] = []
  for (const code of [ARRIVAL, REMOVAL, ARRIVAL]) {
    const [began, count] = [performance.now(), events]
    await announce(code)
    while (events === count && performance.now() - began < 5000) await sleep(5)
    delays.push(events === count ? -1 : seen - began)
    await sleep(200)
  }
  writeFileSync('Z:\\agent\\arrivals.json', JSON.stringify({ isListening, before, delays }))
  arrivals.stop()
  writeFileSync('Z:\\agent\\stopped.txt', 'yes')
  // Ends the process at once, whatever still waits in it.
  koffi.load('kernel32.dll').func('bool TerminateProcess(intptr process, uint32 code)')(-1n, 0)
}
void measure()
