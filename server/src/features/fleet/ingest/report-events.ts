import type { EventKind } from '@portcullis/contract'
import { policySources } from '@portcullis/domain'
import { decisionReason } from '#features/devices/peripherals/index.ts'
import type { HostPeripheral } from '#features/devices/policy/index.ts'
import type { AgentState } from '#features/fleet/agents/index.ts'
import { deviceDetails, type NewEvent } from '#features/system/events/index.ts'
import type { Applied, HostChange } from './apply-report.ts'

type EventHost = Pick<AgentState, 'agent_id' | 'host' | 'address' | 'hashtags'>

/** What all events of a host have in common. */
export const eventBase = (host: EventHost) => ({
  agentId: host.agent_id,
  entity: `${host.host} (${host.address})`,
  hashtags: host.hashtags,
})

/** Agent errors that raise a separate critical event. */
const criticalErrors: ReadonlyMap<string, EventKind> = new Map([
  // A build signed with a foreign key is no accident: an attacker may control this host's commands.
  ['update_refused', 'updateRefused'],
  ['held_ports_full', 'heldPortsFull'],
])

/** Returns the event for an agent error. */
export const errorEventKind = (code: string): EventKind => criticalErrors.get(code) ?? 'agentError'

/** The kernel keeps the device from being used, and did not before. */
const isBlocking = ({ what, peripheral, wasUsable }: HostChange): boolean =>
  what !== 'gone' && !peripheral.authorized && (what === 'attached' || wasUsable)

const deviceEvent = (host: EventHost, kind: EventKind, { design, deviceId, serial }: HostPeripheral): NewEvent => ({
  ...eventBase(host),
  kind,
  icon: design.icon,
  deviceId,
  details: deviceDetails({
    vulnerable: design.vulnerable,
    vid: design.vid,
    pid: design.pid,
    serial,
    vendor: design.vendorName,
    product: design.productName,
  }),
})

const levels = [null, 'suspected', 'confirmed'] as const

/** Events of one host's report. A new host's first inventory gives one event and its findings, not one per device. */
export const eventsOf = (
  host: EventHost,
  applied: Applied,
  isFirst: boolean,
  /** The host's peripherals with their decisions, by id. */
  judged: ReadonlyMap<string, HostPeripheral>,
): NewEvent[] => {
  const events: NewEvent[] = []
  /** Why, and the number by which its user asks for it. */
  function blocked(peripheral: HostPeripheral): NewEvent {
    const event = deviceEvent(host, 'blocked', peripheral)
    const source = peripheral.enforced?.source ?? judged.get(peripheral.deviceId)?.source
    const number = judged.get(peripheral.deviceId)?.caseNumber ?? ''
    const words = [
      ...(source === undefined ? [] : [decisionReason(policySources.indexOf(source), null)]),
      ...(number === '' ? [] : [`case number ${number}`]),
    ]
    return words.length === 0 ? event : { ...event, details: `${event.details}: ${words.join(', ')}` }
  }
  if (isFirst) {
    const present = applied.all.filter((p) => p.present).length
    const details = `${present} ${present === 1 ? 'device' : 'devices'} attached`
    events.push({ ...eventBase(host), kind: 'inventory', details })
  }
  for (const change of applied.changes) {
    const { what, peripheral, before } = change
    const event = (kind: EventKind): NewEvent => deviceEvent(host, kind, peripheral)
    if (what === 'gone') events.push(event('gone'))
    if (what === 'attached') {
      if (!isFirst) events.push(event('attached'))
    }
    if (what === 'attached' || before !== undefined) {
      const { attackTool, vulnerable } = peripheral.design
      if (levels.indexOf(attackTool) > levels.indexOf(before?.attackTool ?? null)) events.push(event('attackTool'))
      if (vulnerable && before?.vulnerable !== true) events.push(event('vulnerable'))
    }
    // A port that an armed host holds is told with its own event (features/held-ports).
    if (change.isUnmasked && peripheral.enforced?.held !== true) {
      const unmasked = event('driverMismatch')
      events.push({
        ...unmasked,
        details: `${unmasked.details}: ${peripheral.driverMismatch}; the host blocks nothing`,
      })
    }
    if (isBlocking(change)) events.push(blocked(peripheral))
  }
  return events
}

/** Event of a host that changed its mode; `reason` is empty when it was told to. */
export const modeEvent = (host: EventHost, armed: boolean, reason: string): NewEvent => ({
  ...eventBase(host),
  kind: armed ? 'armed' : reason === '' ? 'freed' : 'reverted',
  details: reason,
})
