import type { DeviceReport, HostFacts } from '@portcullis/contract/agent-reports.ts'
import { comparePortPaths, provenRemovable } from '../device-id.ts'

/** Reasons why the output could not be used. */
export type ReadingFailure = 'not-understood' | 'platform-unknown' | 'not-permitted' | 'output-too-large'

/** The parsed output of a polled host. */
export type Reading =
  | {
      ok: true
      facts: HostFacts
      /** Identifier of this installation of the system. Absent if it is missing or not readable. */
      machineId?: string
      /** Devices in port order without root hubs, at most `MAX_POLLED_DEVICES`. */
      devices: DeviceReport[]
      /** Number of devices beyond this limit. */
      leftOut: number
    }
  | { ok: false; failure: ReadingFailure; message: string }

/** Maximum number of devices of a polled host: four times the limit of a USB controller. */
export const MAX_POLLED_DEVICES = 512

/** Maximum bytes and lines of the output. A Mac with 100 devices prints 1 MB in 30,000 lines. */
export const MAX_ANSWER = 16 * 1024 * 1024
export const MAX_LINES = 262_144

/** Maximum UTF-16 units of a text, as in the report of an agent. */
const MAX_TEXT = 255

export const failed = (failure: ReadingFailure, message: string): Reading => ({ ok: false, failure, message })

/** Truncates text to `max` UTF-16 units without splitting a surrogate pair. */
export const cut = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '')

/** Returns the raw text of a device without characters that reports cannot contain. Undefined if it is missing. */
export const deviceText = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined
  const text = cut(value.replaceAll('\0', '').toWellFormed(), MAX_TEXT)
  return text === '' ? undefined : text
}

/** Returns the devices in port order, within the limit. If several have the same port path, the first counts. */
export const reading = (facts: HostFacts, found: readonly DeviceReport[], machineId = ''): Reading => {
  const byPlace = new Map<string, DeviceReport>()
  for (const device of found) if (!byPlace.has(device.portPath)) byPlace.set(device.portPath, device)
  const devices = [...byPlace.values()]
    .map((device) => {
      const removable = provenRemovable(device, (portPath) => byPlace.get(portPath)?.removable)
      return removable === undefined || removable === device.removable ? device : { ...device, removable }
    })
    .sort((a, b) => comparePortPaths(a.portPath, b.portPath))
  return {
    ok: true,
    facts,
    ...(machineId === '' ? {} : { machineId }),
    devices: devices.slice(0, MAX_POLLED_DEVICES),
    leftOut: Math.max(0, devices.length - MAX_POLLED_DEVICES),
  }
}
