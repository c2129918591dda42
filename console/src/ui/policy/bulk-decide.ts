import type { PolicyDraft } from '@portcullis/contract'
import type { DecideDevice } from './decide.ts'

/** A device of a selection, with what a rule for it asks. */
export interface BulkDevice extends DecideDevice {
  vid: string
  pid: string
  name: string
  isAttackTool: boolean
}

export type BulkEffect = 'allow' | 'deny'

/** More devices than this are decided by a rule: a preview takes no more. */
export const bulkLimit = 1_000

/** The devices that a decision speaks of. Attack tools are never allowed along with others. */
export const meantDevices = (effect: BulkEffect, devices: readonly BulkDevice[]): BulkDevice[] => {
  const distinct = [...new Map(devices.map((device) => [`${device.uuid}|${device.deviceID}`, device])).values()]
  return effect === 'allow' ? distinct.filter(({ isAttackTool }) => !isAttackTool) : distinct
}

/** The decision as rules for the preview, one for each device on its host. */
export const bulkDraft = (effect: BulkEffect, devices: readonly BulkDevice[]): PolicyDraft => ({
  add: devices.map(({ vid, pid, serialNumber, uuid }) => ({
    effect,
    vid,
    pid,
    serial: serialNumber,
    host: uuid,
    reason: '–',
  })),
})

/** Models of the devices with how many there are, the commonest first. */
export const modelsOf = (devices: readonly BulkDevice[]): { key: string; name: string; count: number }[] => {
  const models = new Map<string, { key: string; name: string; count: number }>()
  for (const { vid, pid, name } of devices) {
    const key = `${vid}:${pid}`
    const model = models.get(key) ?? { key, name, count: 0 }
    models.set(key, { ...model, count: model.count + 1 })
  }
  return [...models.values()].toSorted((one, other) => other.count - one.count)
}
