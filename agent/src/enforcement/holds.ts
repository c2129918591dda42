import { randomUUID } from 'node:crypto'
import { agentLimits, type DriverMismatch, type HeldPort } from '@portcullis/contract/agent-protocol.ts'
import { isOutdated, type PolicyDevice, portsOf } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import type { IdentifiedDevice } from './evaluator.ts'

/** A held port as stored on disk. */
export interface Hold extends HeldPort {
  /** Port path of the same socket on the bus of the other speed. */
  peer?: string
  /** Location of the controller, and the fingerprint at every port and speed; missing in files of older versions. */
  controller?: string
  ruleFingerprint?: string
}

/** Drivers that an operator accepted for one device of this host. */
export interface AcceptedDrivers {
  fingerprint: string
  /** Sorted by name. */
  drivers: string[]
}

export interface HoldsDeps {
  clock: Clock
  known: readonly Hold[]
  accepted: readonly AcceptedDrivers[]
  peerOf: (portPath: string) => string | undefined
  /** Called to store changes durably. */
  onChange: (held: Hold[], accepted: AcceptedDrivers[]) => void
}

const MAX_ACCEPTED = 256

const driversIn = ({ bound }: DriverMismatch): string[] => [...new Set(bound.map(({ driver }) => driver))]

/** Returns the controller without its root hub: the two root hubs of a socket number their ports separately. */
const withoutRootHub = (controller: string): string => controller.replace(/ usb[23]$/, '')

/** Returns whether a stored fingerprint is one of a device. Older versions stored the exact one. */
export const isOneOf = (device: PolicyDevice, fingerprint: string): boolean =>
  [device.ruleFingerprint, device.fingerprintWithoutRevision, device.fingerprint].includes(fingerprint)

type Port = Pick<IdentifiedDevice, 'portPath' | 'controller'>

/** Creates the list of ports held because of a driver mismatch. They stay closed until an operator releases them. */
export const createHolds = ({ clock, known, accepted: knownAccepted, peerOf, onChange }: HoldsDeps) => {
  // An older table of drivers held these ports.
  let held = known.filter(({ mismatch }) => !isOutdated(mismatch))
  let accepted = [...knownAccepted]
  const isAt = (hold: Hold, { portPath, controller }: Port): boolean => {
    if (hold.controller === undefined || controller === undefined)
      return hold.portPath === portPath || hold.peer === portPath
    if (hold.controller === controller) return portsOf(hold.portPath) === portsOf(portPath)
    return (
      hold.peer !== undefined &&
      withoutRootHub(hold.controller) === withoutRootHub(controller) &&
      portsOf(hold.peer) === portsOf(portPath)
    )
  }
  /** Returns the hold of a port. If the system numbered its buses anew, the hold follows. */
  function find(port: Port): Hold | undefined {
    const hold = held.find((one) => isAt(one, port))
    if (hold?.controller === undefined || hold.controller !== port.controller || hold.portPath === port.portPath)
      return hold
    const { peer: _, ...rest } = hold
    const peer = peerOf(port.portPath)
    const moved = { ...rest, portPath: port.portPath, ...(peer === undefined ? {} : { peer }) }
    held = held.map((one) => (one === hold ? moved : one))
    onChange(held, accepted)
    return moved
  }

  return {
    find,
    /** Returns true if no further port can be held. The host must then authorise no further devices. */
    isFull: (): boolean => held.length >= agentLimits.heldPorts,
    list: (): HeldPort[] => held.map(({ peer: _, controller: __, ruleFingerprint: ___, ...hold }) => hold),
    isAccepted: ({ device }: IdentifiedDevice, mismatch: DriverMismatch): boolean => {
      const known = accepted.find(({ fingerprint }) => isOneOf(device, fingerprint))?.drivers
      return known !== undefined && driversIn(mismatch).every((driver) => known.includes(driver))
    },
    /** Holds the port of a device and keeps the first evidence. Never releases another port. */
    add({ portPath, controller, device, name }: IdentifiedDevice, mismatch: DriverMismatch): 'held' | 'known' | 'full' {
      if (find({ portPath, controller }) !== undefined) return 'known'
      if (held.length >= agentLimits.heldPorts) return 'full'
      const peer = peerOf(portPath)
      const hold: Hold = {
        id: randomUUID(),
        portPath,
        ...(peer === undefined ? {} : { peer }),
        ...(controller === undefined ? {} : { controller }),
        at: clock.now(),
        mismatch,
        vid: device.vid,
        pid: device.pid,
        serial: device.serial,
        name,
        fingerprint: device.fingerprintWithoutRevision,
        ruleFingerprint: device.ruleFingerprint,
      }
      held = [...held, hold]
      onChange(held, accepted)
      return 'held'
    },
    /** Releases a port. With `isAccepted`, the held device may use its drivers on this host from now on. */
    release(id: string, isAccepted: boolean): void {
      const hold = held.find((one) => one.id === id)
      if (hold === undefined) return
      held = held.filter((one) => one !== hold)
      if (isAccepted) {
        const { mismatch } = hold
        const fingerprint = hold.ruleFingerprint ?? hold.fingerprint
        const before = accepted.find((one) => one.fingerprint === fingerprint)?.drivers ?? []
        const others = accepted.filter((one) => one.fingerprint !== fingerprint).slice(-(MAX_ACCEPTED - 1))
        accepted = [...others, { fingerprint, drivers: [...new Set([...before, ...driversIn(mismatch)])].sort() }]
      }
      onChange(held, accepted)
    },
    /** Releases all ports. Only root on the host can request this. */
    clear(): void {
      if (held.length === 0) return
      held = []
      onChange(held, accepted)
    },
  }
}
export type Holds = ReturnType<typeof createHolds>
