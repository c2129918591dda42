import type { Api } from '@portcullis/platform/console/lib/api.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { acceptFinding, type Peripheral, revokeAcceptedFinding } from '#features/contract.ts'
import { nameOfModel } from './model-name.ts'
import { strings } from './strings.ts'

type Caller = Pick<Api, 'call'>

const nameOf = (device: Peripheral): string => nameOfModel(device) || device.caption || `${device.vid}:${device.pid}`

/** Asks for the reason, and accepts the suspected finding about a device on all hosts. */
export const askAcceptance = async (api: Caller, device: Peripheral): Promise<void> => {
  const { uuid, deviceID } = device
  const { finding, evidence, hosts } = await api.call(acceptFinding, {
    body: { uuid, deviceID, reason: '', dryRun: true },
  })
  confirm({
    title: strings.acceptFinding,
    names: [nameOf(device)],
    details: [finding, ...evidence],
    count: hosts,
    kind: strings.affectedHosts,
    consequence: strings.acceptEffect,
    reasonFor: strings.acceptReason,
    run: (reason) => api.call(acceptFinding, { body: { uuid, deviceID, reason } }),
    done: strings.findingAccepted,
  })
}

/** Asks for the reason, and revokes the acceptance of a finding. */
export const askRevocation = (api: Caller, device: Peripheral, id: string): void =>
  confirm({
    title: strings.revokeAcceptance,
    names: [nameOf(device)],
    kind: strings.oneFinding,
    consequence: strings.revokeEffect,
    reasonFor: strings.revokeReason,
    run: (reason) => api.call(revokeAcceptedFinding, { params: { id }, query: { reason } }),
    done: strings.acceptanceRevoked,
  })
