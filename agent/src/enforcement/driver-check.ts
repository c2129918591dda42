import { release } from 'node:os'
import type { DeviceReport, DriverMismatch } from '@portcullis/contract/agent-protocol.ts'
import { type DriverScope, driverMismatch, driversFor, holdsPort, part } from '@portcullis/domain'
import type { Interfaces } from '../platform/platform.ts'
import type { IdentifiedDevice } from './evaluator.ts'
import type { Holds } from './holds.ts'

export interface DriverCheckDeps {
  interfaces: Pick<Interfaces, 'of' | 'open'>
  holds: Pick<Holds, 'isAccepted'>
  /** Returns whether an interface was closed before the host was armed. */
  isForeign: (name: string, instance: string) => boolean
}

/** Compares the claims of devices with the drivers that the kernel bound. */
export const createDriverCheck = ({ interfaces, holds, isForeign }: DriverCheckDeps) => {
  function compare(
    identified: IdentifiedDevice,
    bound: ReturnType<Interfaces['of']>,
    scope: DriverScope,
  ): DriverMismatch | null {
    const mismatch = driverMismatch(identified.parsed, identified.steady, bound, scope)
    if (mismatch === null || holds.isAccepted(identified, mismatch)) return null
    return part('unknown', mismatch) === null ? mismatch : { ...mismatch, kernel: release() }
  }

  return {
    /** Returns the bound drivers that are not allowed, including unknown ones. Changes nothing. */
    mismatch: (identified: IdentifiedDevice, scope: DriverScope): DriverMismatch | null =>
      compare(identified, interfaces.of(identified.portPath), scope),

    /** Returns the interfaces of an allowed device that stay closed, with the reasons. */
    closed: (identified: IdentifiedDevice, scope: DriverScope): NonNullable<DeviceReport['closedInterfaces']> =>
      interfaces
        .of(identified.portPath)
        .filter(({ isAuthorized }) => !isAuthorized)
        .map((one) => ({
          interface: one.number,
          reason: isForeign(one.name, identified.instance)
            ? 'closed-before'
            : driversFor(identified.parsed, identified.steady, one, scope) === undefined
              ? 'not-described'
              : 'no-driver',
        })),

    /**
     * Opens the interfaces that an authorised device needs, and checks the drivers after each is bound. Returns the drivers
     * for which its port is held.
     */
    open(identified: IdentifiedDevice, scope: DriverScope): DriverMismatch | null {
      const check = () => holdsPort(compare(identified, interfaces.of(identified.portPath), scope), scope)
      const toOpen = interfaces.of(identified.portPath).flatMap((one) => {
        if (one.isAuthorized || isForeign(one.name, identified.instance)) return []
        const wanted = driversFor(identified.parsed, identified.steady, one, scope)
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
export type DriverCheck = ReturnType<typeof createDriverCheck>
