import { type Occurrence, policySources } from '@portcullis/domain'
import type { AgentState } from '#features/agents/server/index.ts'
import type { DeviceEventKind } from '#features/contract.ts'
import { decisionReason, eventDevice } from '#features/devices/server/index.ts'
import { eventOrigin, type NewEvent, type OtherEventKind } from '#features/events/server/index.ts'
import type { HostPeripheral } from '#features/policy/server/index.ts'
import type { Applied, EvaluatedChange, HostChange, Repeated } from './apply-report.ts'

type EventHost = Pick<AgentState, 'agent_id' | 'host' | 'address' | 'hashtags'>

/** Agent errors that raise a separate critical event. */
const criticalErrors: ReadonlyMap<string, OtherEventKind> = new Map([
  // A build signed with a foreign key suggests that an attacker controls the commands of this host.
  ['update_refused', 'updateRefused'],
  ['held_ports_full', 'heldPortsFull'],
])

export const errorEventKind = (code: string): OtherEventKind => criticalErrors.get(code) ?? 'agentError'

/**
 * Returns whether the host now blocks the device and did not before. On a host in monitoring mode, another program
 * switched it off, unless the agent names its own decision.
 */
const isBlocking = ({ what, peripheral, wasUsable }: HostChange, isArmed: boolean): boolean =>
  what !== 'gone' &&
  !peripheral.authorized &&
  (what === 'attached' || wasUsable) &&
  (isArmed || peripheral.enforced !== null)

const deviceEvent = (
  host: EventHost,
  kind: DeviceEventKind,
  { fingerprint, deviceId, serial }: HostPeripheral,
  note = '',
): NewEvent => ({ ...eventOrigin(host), kind, ...eventDevice(fingerprint, serial, note), deviceId })

/** Returns how often something happened again and when last, for the details of an event. */
const timesMore = ({ count, last }: Repeated): string =>
  `${count.toLocaleString('en')} more ${count === 1 ? 'time' : 'times'}${last === undefined ? '' : `, last at ${instant(last)}`}`
const instant = ({ at }: Occurrence): string => `${new Date(at).toISOString().slice(0, 19)}Z`

/** Returns the event of changes that an agent dropped, because the devices of one port filled its spool. */
export const droppedEvent = (
  host: EventHost,
  { portPath, occurred, repeated }: Extract<EvaluatedChange, { portPath: string }>,
): NewEvent => {
  const count = 1 + (repeated?.count ?? 0)
  const [from, to] = [occurred, repeated?.last ?? occurred].map((one) => (one === undefined ? '?' : instant(one)))
  return {
    ...eventOrigin(host),
    kind: 'changesDropped',
    details: `Port ${portPath}: ${count.toLocaleString('en')} ${count === 1 ? 'change' : 'changes'} between ${from} and ${to}`,
    occurred,
  }
}

/** Returns where an attached device was before, for the details of an event; undefined if it did not move. */
const cameFrom = ({ arrival, peripheral }: HostChange, lastHosts: ReadonlyMap<string, string>): string | undefined => {
  const host = lastHosts.get(peripheral.deviceId)
  if (host !== undefined) return `last attached to ${host}`
  return arrival?.fromPort === undefined ? undefined : `last attached to port ${arrival.fromPort}`
}

const levels = [null, 'suspected', 'confirmed'] as const

/**
 * Returns the events of one host's report. The first inventory of a new host gives one event and its findings, not one
 * event per device.
 */
export const eventsOf = (
  host: EventHost,
  applied: Applied,
  isFirst: boolean,
  /** The host's peripherals with their decisions, by id. */
  evaluated: ReadonlyMap<string, HostPeripheral>,
  isArmed: boolean,
  /** Names of other hosts that had devices last, by the id of the device. */
  lastHosts: ReadonlyMap<string, string> = new Map(),
): NewEvent[] => {
  const events: NewEvent[] = []
  /** Adds the reason and the case number for the user of the host. */
  function blocked(peripheral: HostPeripheral): NewEvent {
    const source = peripheral.enforced?.source ?? evaluated.get(peripheral.deviceId)?.source
    const number = evaluated.get(peripheral.deviceId)?.caseNumber ?? ''
    const reasons = [
      ...(source === undefined ? [] : [decisionReason(policySources.indexOf(source), null)]),
      ...(number === '' ? [] : [`case number ${number}`]),
    ]
    return deviceEvent(host, 'blocked', peripheral, reasons.join(', '))
  }
  if (isFirst) {
    const present = applied.all.filter((p) => p.present).length
    const details = `${present} ${present === 1 ? 'device' : 'devices'} attached`
    events.push({ ...eventOrigin(host), kind: 'inventory', details })
  }
  for (const change of applied.changes) {
    const { what, peripheral, before, occurred } = change
    const event = (kind: DeviceEventKind, note = ''): NewEvent => ({
      ...deviceEvent(host, kind, peripheral, note),
      occurred,
    })
    if (what === 'gone') events.push(event('gone'))
    if (what === 'attached' && !isFirst) {
      const { repeated } = change
      const from = cameFrom(change, lastHosts)
      const kind = from !== undefined ? 'moved' : change.arrival?.isKnown === true ? 'attachedAgain' : 'attached'
      const notes = [from, repeated === undefined ? undefined : `attached ${timesMore(repeated)}`]
      events.push({
        ...event(kind, notes.filter((one) => one !== undefined).join(', ')),
        ...(repeated === undefined ? {} : { times: 1 + repeated.count }),
      })
    }
    if (what === 'attached' || before !== undefined) {
      const { attackTool, vulnerable } = peripheral.fingerprint
      if (levels.indexOf(attackTool) > levels.indexOf(before?.attackTool ?? null)) events.push(event('attackTool'))
      if (vulnerable && before?.vulnerable !== true) events.push(event('vulnerable'))
    }
    // A held port on an armed host has its own event (features/hosts/server/held-ports).
    if (change.isUnmasked && peripheral.enforced?.held !== true)
      events.push(event('driverMismatch', `${peripheral.driverMismatch}; the host blocks nothing`))
    if (change.isUnknown && peripheral.enforced?.held !== true)
      events.push(event('unknownDriver', peripheral.kernel.unknownDriver))
    if (isBlocking(change, isArmed)) events.push({ ...blocked(peripheral), occurred })
  }
  return events
}

/** Returns the event of a changed mode; `reason` is empty if a command changed it. */
export const modeEvent = (host: EventHost, armed: boolean, reason: string): NewEvent => ({
  ...eventOrigin(host),
  kind: armed ? 'armed' : reason === '' ? 'freed' : 'reverted',
  details: reason,
})
