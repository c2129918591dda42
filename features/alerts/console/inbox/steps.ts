import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { type AlertStep, alertCatalogue, alertSteps } from '#features/contract.ts'
import { alertHostsAddress, type Line } from '../shared/line.ts'
import { strings } from './strings.ts'

const labels = messages(alertSteps)

/** `accept`: accepts the suspected finding about the model. */
export type Decision = 'allow' | 'deny' | 'accept'

export type Step = { decide: Decision; label: string } | { decide: null; label: string; href: string }

const page = (label: string, href: string): Step => ({ decide: null, label, href })

const stepOf = (name: AlertStep, line: Line, canDecide: boolean): Step | null => {
  const { model, hosts, hostsCount } = line
  const [only] = hosts
  switch (name) {
    case 'approve':
      return model !== null && canDecide ? { decide: 'allow', label: labels.approve } : null
    case 'deny':
      return model !== null && canDecide ? { decide: 'deny', label: labels.deny } : null
    case 'accept':
      return model !== null && canDecide ? { decide: 'accept', label: labels.accept } : null
    case 'devices':
      return model === null ? null : page(labels.devices, `/peripherals?vid=${model.vid}&pid=${model.pid}&present=true`)
    case 'hosts':
      if (only === undefined) return null
      return hostsCount === 1
        ? page(strings.openHost, agentAddress(only.uuid))
        : page(labels.hosts, alertHostsAddress(line))
    case 'events':
      return line.page?.startsWith('/events') === true ? page(labels.events, line.page) : null
    case 'list':
      return line.page === null ? null : page(labels.list, line.page)
    case 'health':
      return line.page === null ? null : page(labels.health, line.page)
  }
}

/** Returns the next steps for an alert. An alert about many models offers its hosts and events. */
export const stepsOf = (line: Line, canDecide: boolean): Step[] =>
  [
    ...new Set([
      ...(line.kind === 'health' ? (['health'] as const) : alertCatalogue[line.kind].steps),
      'events' as const,
    ]),
  ].flatMap((name) => stepOf(name, line, canDecide) ?? [])
