import type { policyApprovals, ResponseOf } from '#features/contract.ts'
import { nameOfModel } from '#features/devices/console/shared/model-name.ts'
import type { BulkDevice } from '../shared/bulk-decide.ts'
import type { DecideSubject } from '../shared/decide.ts'
import { strings } from './strings.ts'

/** A model with devices that await approval. */
export type Waiting = ResponseOf<typeof policyApprovals>['data'][number]
export type WaitingDevice = Waiting['devices'][number]

export const modelKey = ({ vid, pid }: Pick<Waiting, 'vid' | 'pid'>): string => `${vid}:${pid}`
export const deviceKey = (model: Waiting, device: WaitingDevice): string =>
  `${modelKey(model)}|${device.uuid}|${device.deviceID}`

export const modelName = ({ guiVid, guiPid, vid, pid }: Waiting): string =>
  nameOfModel({ guiVid, guiPid }) || `${vid}:${pid}`

/** One line of the list: a model, or a device of the open model. */
export interface Line {
  key: string
  model: Waiting
  device: WaitingDevice | null
}

/** Lines from top to bottom. */
export const linesOf = (all: readonly Waiting[], open: string | null): Line[] =>
  all.flatMap((model): Line[] => [
    { key: modelKey(model), model, device: null },
    ...(modelKey(model) === open
      ? model.devices.map((device) => ({ key: deviceKey(model, device), model, device }))
      : []),
  ])

/** Returns the key of the next or previous line; at the ends, the same line. If the line is gone, returns the first or last. */
export const nextLine = (lines: readonly Line[], key: string | null, step: 1 | -1): string | null => {
  const at = lines.findIndex((line) => line.key === key)
  if (at === -1) return (step === 1 ? lines[0] : lines.at(-1))?.key ?? null
  return (lines[at + step] ?? lines[at])?.key ?? null
}

/** Returns the line with the cursor. If the line is gone, the one in its place has the cursor. */
export const cursorOf = (lines: readonly Line[], pointed: { key: string; at: number } | null): string | null =>
  pointed === null || lines.some(({ key }) => key === pointed.key)
    ? (pointed?.key ?? null)
    : ((lines[Math.max(0, pointed.at)] ?? lines.at(-1))?.key ?? null)

/** Returns the number of devices and hosts of a model as text. */
export const amount = ({ agentsCount, peripheralsCount }: Waiting): string =>
  strings.devicesOnHosts({ devices: peripheralsCount, hosts: agentsCount })

/** Returns the subject of a decision on a line. Tags are those of its hosts: the suggested one, then the most common. */
export const subjectOf = ({ model, device }: Line, evidence: readonly string[]): DecideSubject => {
  const meant = device === null ? model.devices : [device]
  const counts = new Map<string, number>()
  const suggested = model.suggestion?.tag
  for (const { hashtags } of meant)
    for (const tag of hashtags.split(',')) if (tag !== '') counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return {
    name: modelName(model),
    vid: model.vid,
    pid: model.pid,
    devices: meant,
    tags: [...counts]
      .sort(([one, ones], [other, others]) => Number(other === suggested) - Number(one === suggested) || others - ones)
      .map(([tag]) => tag),
    isAttackTool: model.isKnownAttackTool,
    evidence,
  }
}

/** Returns the shown models with one model updated, removed or added as in the newer response. */
export const withModel = (shown: readonly Waiting[], newer: readonly Waiting[], key: string): Waiting[] => {
  const model = newer.find((one) => modelKey(one) === key)
  const at = shown.findIndex((one) => modelKey(one) === key)
  const others = shown.filter((one) => modelKey(one) !== key)
  if (model === undefined) return others
  return others.toSpliced(at === -1 ? newer.indexOf(model) : at, 0, model)
}

/** Counts the models that a newer response adds, removes or changes. */
export const changesBetween = (shown: readonly Waiting[], newer: readonly Waiting[]): number => {
  const before = new Map(shown.map((model) => [modelKey(model), model]))
  const same = (one: Waiting, other: Waiting) =>
    one.peripheralsCount === other.peripheralsCount && one.agentsCount === other.agentsCount
  const changed = newer.filter((model) => {
    const old = before.get(modelKey(model))
    return old === undefined || !same(old, model)
  }).length
  const now = new Set(newer.map(modelKey))
  return changed + shown.filter((model) => !now.has(modelKey(model))).length
}

/** Returns true if a line is selected, directly or through its model. */
export const isChosen = (chosen: ReadonlySet<string>, { key, model, device }: Line): boolean =>
  chosen.has(key) || (device !== null && chosen.has(modelKey(model)))

/** Returns the selection after a click on a line. A selected model includes its devices, even those not shown. */
export const toggled = (chosen: ReadonlySet<string>, { key, model, device }: Line): ReadonlySet<string> => {
  const next = new Set(chosen)
  if (next.delete(key)) return next
  if (device === null) for (const one of model.devices) next.delete(deviceKey(model, one))
  else if (next.has(modelKey(model))) return chosen
  return next.add(key)
}

/** Counts the selected devices. */
export const chosenCount = (chosen: ReadonlySet<string>, models: readonly Waiting[]): number =>
  models.reduce(
    (sum, model) =>
      sum +
      (chosen.has(modelKey(model))
        ? model.peripheralsCount
        : model.devices.filter((device) => chosen.has(deviceKey(model, device))).length),
    0,
  )

/** Returns the selected devices, and the number of devices of selected models that the response does not list. */
export const chosenDevices = (
  chosen: ReadonlySet<string>,
  models: readonly Waiting[],
): { devices: BulkDevice[]; unlisted: number } => {
  const devices = models.flatMap((model) =>
    model.devices
      .filter((device) => chosen.has(modelKey(model)) || chosen.has(deviceKey(model, device)))
      .map(({ uuid, hostIdentifier, deviceID, serialNumber }) => ({
        ...{ uuid, hostIdentifier, deviceID, serialNumber },
        vid: model.vid,
        pid: model.pid,
        name: modelName(model),
        isAttackTool: model.isKnownAttackTool,
      })),
  )
  return { devices, unlisted: chosenCount(chosen, models) - devices.length }
}

/** Counts for the title: listed models, and attached devices as in the navigation. */
export const totalsText = ({
  recordsTotal,
  recordsFiltered,
  attached,
}: {
  recordsTotal: number
  recordsFiltered: number
  attached: number
}): string =>
  recordsFiltered === recordsTotal
    ? strings.totals({ models: recordsTotal, devices: attached })
    : strings.filteredTotals({ shown: recordsFiltered, models: recordsTotal, devices: attached })
