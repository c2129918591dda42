import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { lazily } from '@portcullis/platform/console/ui/lazily.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { getPeripherals } from '#features/contract.ts'
import { askAcceptance } from '#features/devices/console/shared/acceptance.ts'
import { nameOfModel } from '#features/devices/console/shared/model-name.ts'
import { bulkLimit } from '#features/policy/console/shared/bulk-decide.ts'
import type { DecideQuestion } from '#features/policy/console/shared/DecideDialog.tsx'
import type { Line } from '../shared/line.ts'
import type { Decision } from './steps.ts'
import { strings } from './strings.ts'

const DecideDialog = lazily(async () => (await import('#features/policy/console/shared/DecideDialog.tsx')).DecideDialog)

/** Decides about the model of an alert in the dialog that other pages use, too. */
export const useAlertDecision = () => {
  const { api } = useServices()
  const [question, setQuestion] = useState<DecideQuestion | null>(null)
  const devicesOf = async ({ vid, pid }: NonNullable<Line['model']>) => {
    const read = async (present: Record<string, string>) =>
      (await api.call(getPeripherals, { query: { vid, pid, ...present, PageSize: bulkLimit } })).data
    const attached = await read({ present: 'true' })
    return attached.length > 0 ? attached : read({})
  }
  const ask = async ({ model }: Line, effect: 'allow' | 'deny') => {
    if (model === null) return
    const all = await devicesOf(model)
    const open = effect === 'allow' ? all.filter(({ decision }) => decision === 'block') : all
    const devices = open.length > 0 ? open : all
    const [first] = devices
    if (first === undefined) {
      tell(strings.noDevices)
      return
    }
    const tool = devices.find(({ isKnownAttackTool }) => isKnownAttackTool)
    const name = nameOfModel(first)
    setQuestion({
      subject: {
        name: name || first.caption || `${model.vid}:${model.pid}`,
        ...model,
        devices,
        tags: [...new Set(devices.flatMap(({ hashtags }) => hashtags.split(',').filter((tag) => tag !== '')))],
        isAttackTool: tool !== undefined,
        evidence: tool?.evidence ?? [],
      },
      start: { effect, scope: effect === 'deny' ? 'all' : 'host' },
    })
  }
  const accept = async ({ model }: Line) => {
    if (model === null) return
    const { data } = await api.call(getPeripherals, {
      query: { ...model, isKnownAttackTool: 'true', PageSize: bulkLimit },
    })
    // The server refuses a confirmed finding and says why.
    const device = data.find(({ attackTool }) => attackTool === 'suspected') ?? data[0]
    if (device === undefined) tell(strings.noFinding)
    else await askAcceptance(api, device)
  }
  return {
    decide: (line: Line, decision: Decision): void =>
      void (decision === 'accept' ? accept(line) : ask(line, decision)).catch(tellFailure),
    dialog: <DecideDialog question={question} close={() => setQuestion(null)} />,
  }
}
