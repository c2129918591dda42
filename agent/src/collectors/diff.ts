import { isDeepStrictEqual } from 'node:util'
import type { DeviceChange } from '@portcullis/contract/agent-protocol.ts'
import { comparePortPaths } from '@portcullis/domain'
import type { ScannedDevice } from '../platform/platform.ts'

type Devices = ReadonlyMap<string, ScannedDevice>

/**
 * Returns the changes between two scans: first removals with children before their hub, then attachments and changes
 * with hubs before their children.
 *
 * @param at host clock, ms since 1970
 */
export const diffDevices = (before: Devices, after: Devices, at: number): DeviceChange[] => {
  const removed: string[] = []
  const appeared: DeviceChange[] = []
  for (const [portPath, old] of before) {
    const now = after.get(portPath)
    if (now === undefined || now.instance !== old.instance) removed.push(portPath)
  }
  for (const [portPath, { report, instance }] of after) {
    const old = before.get(portPath)
    if (old === undefined || old.instance !== instance) appeared.push({ op: 'attached', at, device: report })
    else if (!isDeepStrictEqual(old.report, report)) appeared.push({ op: 'changed', at, device: report })
  }
  removed.sort((a, b) => comparePortPaths(b, a))
  return [...removed.map((portPath): DeviceChange => ({ op: 'removed', at, portPath })), ...appeared]
}
