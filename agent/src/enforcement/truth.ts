import { release } from 'node:os'
import type { DeviceReport, DriverMismatch } from '@portcullis/contract/agent-protocol'
import { type DriverScope, driverMismatch, driversFor, holdsPort, part } from '@portcullis/domain'
import type { Interfaces } from '../platform/platform.ts'
import type { Holds } from './holds.ts'
import type { JudgedDevice } from './judge.ts'

export interface TruthDeps {
  interfaces: Pick<Interfaces, 'of' | 'open'>
  holds: Pick<Holds, 'isAccepted'>
  /** Returns whether an interface was closed before the host was armed. */
  isForeign: (name: string, instance: string) => boolean
}

/** Compares the claims of devices with the drivers that the kernel bound. */
export const createTruth = ({ interfaces, holds, isForeign }: TruthDeps) => {
  function compare(
    judged: JudgedDevice,
    bound: ReturnType<Interfaces['of']>,
    scope: DriverScope,
  ): DriverMismatch | null {
    const mismatch = driverMismatch(judged.parsed, judged.steady, bound, scope)
    if (mismatch === null || holds.isAccepted(judged, mismatch)) return null
    return part('unknown', mismatch) === null ? mismatch : { ...mismatch, kernel: release() }
  }

  return {
    /** Returns the bound drivers that are not allowed, including unknown ones. Changes nothing. */
    mismatch: (judged: JudgedDevice, scope: DriverScope): DriverMismatch | null =>
      compare(judged, interfaces.of(judged.portPath), scope),

    /** Returns the interfaces of an allowed device that stay closed, with the reasons. */
    closed: (judged: JudgedDevice, scope: DriverScope): NonNullable<DeviceReport['closedInterfaces']> =>
      interfaces
        .of(judged.portPath)
        .filter(({ isAuthorized }) => !isAuthorized)
        .map((one) => ({
          interface: one.number,
          reason: isForeign(one.name, judged.instance)
            ? 'closed-before'
            : driversFor(judged.parsed, judged.steady, one, scope) === undefined
              ? 'not-described'
              : 'no-driver',
        })),

    /**
     * Opens the interfaces that an authorised device needs, and checks the drivers after each is bound. Returns the drivers
     * for which its port is held.
     */
    open(judged: JudgedDevice, scope: DriverScope): DriverMismatch | null {
      const check = () => holdsPort(compare(judged, interfaces.of(judged.portPath), scope), scope)
      const toOpen = interfaces.of(judged.portPath).flatMap((one) => {
        if (one.isAuthorized || isForeign(one.name, judged.instance)) return []
        const wanted = driversFor(judged.parsed, judged.steady, one, scope)
        return wanted === undefined ? [] : [{ name: one.name, wanted, mayBeUnknown: scope.by === 'identity' }]
      })
      let found = check()
      if (found === null && toOpen.length > 0)
        interfaces.open(toOpen, () => {
          found = check()
          return found === null
        })
      return found
    },
  }
}
export type Truth = ReturnType<typeof createTruth>
