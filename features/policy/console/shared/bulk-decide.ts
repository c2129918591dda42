import type { DecisionDraft, Peripheral } from '#features/contract.ts'
import { nameOfModel } from '#features/devices/console/shared/model-name.ts'
import type { DecideDevice } from './decide.ts'

/** A selected device, with the fields that a rule for it needs. */
export interface BulkDevice extends DecideDevice {
  vid: string
  pid: string
  name: string
  isAttackTool: boolean
}

export type BulkEffect = 'allow' | 'deny'

/** Maximum number of devices in one decision, because a preview accepts no more. */
export const bulkLimit = 1_000

/** Returns devices as subjects of a decision, without hubs: those are always allowed. */
export const bulkDevicesOf = (devices: readonly Peripheral[]): BulkDevice[] =>
  devices
    .filter(({ rule }) => rule !== 'hub')
    .map(({ uuid, hostIdentifier, deviceID, serialNumber, vid, pid, caption, guiVid, guiPid, isKnownAttackTool }) => ({
      ...{ uuid, hostIdentifier, deviceID, serialNumber, vid, pid },
      name: caption || nameOfModel({ guiVid, guiPid }) || `${vid}:${pid}`,
      isAttackTool: isKnownAttackTool,
    }))

/** Returns the devices that a decision covers. An approval never includes attack tools. */
export const meantDevices = (effect: BulkEffect, devices: readonly BulkDevice[]): BulkDevice[] => {
  const distinct = [...new Map(devices.map((device) => [`${device.uuid}|${device.deviceID}`, device])).values()]
  return effect === 'allow' ? distinct.filter(({ isAttackTool }) => !isAttackTool) : distinct
}

/** Returns the decision, each device on its host, for the preview and for the request. */
export const bulkDecision = (decision: BulkEffect, devices: readonly BulkDevice[]): DecisionDraft => ({
  decision,
  devices: devices.map(({ uuid, vid, pid, deviceID }) => ({ uuid, vid, pid, deviceID })),
})

/** Counts devices by model, most common model first. */
export const modelsOf = (devices: readonly BulkDevice[]): { key: string; name: string; count: number }[] => {
  const models = new Map<string, { key: string; name: string; count: number }>()
  for (const { vid, pid, name } of devices) {
    const key = `${vid}:${pid}`
    const model = models.get(key) ?? { key, name, count: 0 }
    models.set(key, { ...model, count: model.count + 1 })
  }
  return [...models.values()].toSorted((one, other) => other.count - one.count)
}
