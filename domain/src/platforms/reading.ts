import type { DeviceReport, HostFacts } from '@portcullis/contract'
import { comparePortPaths } from '../device-id.ts'

/** Why an answer gave nothing. */
export type ReadingFailure = 'not-understood' | 'platform-unknown' | 'not-permitted' | 'output-too-large'

/** What a polled host said, understood. */
export type Reading =
  | {
      ok: true
      facts: HostFacts
      /** What tells this installation of a system from all others; absent where it has none or does not show it. */
      machineId?: string
      /** In port order, root hubs left out, at most `MAX_POLLED_DEVICES`. */
      devices: DeviceReport[]
      /** Devices beyond that bound. */
      leftOut: number
    }
  | { ok: false; failure: ReadingFailure; message: string }

/** Devices of one polled host: four times what a USB controller can address. */
export const MAX_POLLED_DEVICES = 512

/** Bytes and lines of an answer that are looked at; a Mac with 100 devices says 1 MB in 30,000 lines. */
export const MAX_ANSWER = 16 * 1024 * 1024
export const MAX_LINES = 262_144

/** UTF-16 units of a device's text, as in an agent's report. */
const MAX_TEXT = 255

export const failed = (failure: ReadingFailure, message: string): Reading => ({ ok: false, failure, message })

/** Cuts to `max` UTF-16 units without leaving half of a surrogate pair. */
export const cut = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '')

/** Text of a device as it is reported: raw but for what no report may hold. Undefined when there is none. */
export const deviceText = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined
  const text = cut(value.replaceAll('\0', '').toWellFormed(), MAX_TEXT)
  return text === '' ? undefined : text
}

/** Devices in port order within the bound; of several at one place the first counts. */
export const reading = (facts: HostFacts, found: readonly DeviceReport[], machineId = ''): Reading => {
  const byPlace = new Map<string, DeviceReport>()
  for (const device of found) if (!byPlace.has(device.portPath)) byPlace.set(device.portPath, device)
  const devices = [...byPlace.values()].sort((a, b) => comparePortPaths(a.portPath, b.portPath))
  return {
    ok: true,
    facts,
    ...(machineId === '' ? {} : { machineId }),
    devices: devices.slice(0, MAX_POLLED_DEVICES),
    leftOut: Math.max(0, devices.length - MAX_POLLED_DEVICES),
  }
}
