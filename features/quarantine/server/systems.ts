import type { NacSystem } from '#features/contract.ts'
import { certificatesOf, type GivenItems, type GroupValues } from '#features/settings/server/index.ts'
import { addressesOf } from './addresses.ts'
import { type CactToken, createCact } from './cact.client.ts'
import type { QuarantineContext } from './context.ts'
import { NacFault } from './fault.ts'
import { createIse, nothingKnown } from './ise.client.ts'
import { createTraffic, type Manner } from './traffic.ts'

/** Data that a quarantine writes to the other system. */
export interface Note {
  state: 'quarantined' | 'cleared'
  reason: string
  until: string
}

/** A system that quarantines by MAC address (`AA:BB:CC:DD:EE:FF`). */
export interface NacPeer {
  /** Host and port of the system. */
  place: string
  /** Addresses that nobody may quarantine there. */
  never: ReadonlySet<string>
  /** Throws if this policy is not defined there. */
  assertPolicy(policy: string): Promise<void>
  /** Returns the addresses that the system can act on. */
  reachable(macs: readonly string[]): Promise<string[]>
  /** Returns why the system does not confirm that a MAC address is the one at an IPv4 address; null: it confirms it. */
  doubt(mac: string, address: string): Promise<string | null>
  /** Returns the quarantine policy of each address; addresses without one are absent. */
  quarantined(macs: readonly string[]): Promise<Map<string, string>>
  apply(mac: string, policy: string): Promise<void>
  clear(mac: string, policy: string): Promise<void>
  /** Writes a note for people and rules there, and returns the result; null: the system cannot store notes. */
  annotate(macs: readonly string[], note: Note): Promise<string | null>
}

const placeOf = (url: string): string => (url === '' ? '' : new URL(url).host)

/** Value of the property while a host is quarantined. */
const quarantinedValue = 'quarantine'

/** Names of the custom attributes, which must be defined in ISE. */
const attributeNames = { state: 'PortcullisState', reason: 'PortcullisReason', until: 'PortcullisUntil' } as const
export type Systems = ReturnType<typeof createSystems>

/** Opens the configured systems, and keeps their state between tasks. */
export const createSystems = (context: QuarantineContext) => {
  const { db, clock, settings, resolve } = context
  const traffic = {
    ise: createTraffic({ clock, name: 'Cisco ISE' }),
    cact: createTraffic({ clock, name: 'CounterACT' }),
  }
  const known = nothingKnown()
  const token: { current: CactToken | null } = { current: null }

  const iseOf = (values: GroupValues<'ise'>, manner: Manner = {}, of = known) =>
    createIse({
      config: {
        url: new URL(values.text('ISE_URL')),
        resolve,
        ca: certificatesOf(values.text('ISE_CA')),
        user: values.text('ISE_USER'),
        password: values.secret('ISE_PASSWORD')?.reveal() ?? '',
        policy: values.text('ISE_ANC_POLICY'),
      },
      traffic: traffic.ise,
      known: of,
      ...manner,
    })

  const cactOf = (values: GroupValues<'cact'>, manner: Manner = {}, kept = token) =>
    createCact({
      ...context,
      config: {
        url: new URL(values.text('CACT_URL')),
        resolve,
        ca: certificatesOf(values.text('CACT_CA')),
        user: values.text('CACT_USER'),
        password: values.secret('CACT_PASSWORD')?.reveal() ?? '',
        dexAccount: values.text('CACT_DEX_ACCOUNT'),
        dexPassword: values.secret('CACT_DEX_PASSWORD')?.reveal() ?? '',
        property: values.text('CACT_PROPERTY'),
        tokenStyle: values.text('CACT_TOKEN_STYLE') === 'bearer' ? 'bearer' : 'bare',
      },
      traffic: traffic.cact,
      token: kept,
      ...manner,
    })

  function isePeer(values: GroupValues<'ise'>, manner: Manner): NacPeer {
    const ise = iseOf(values, manner)
    return {
      place: placeOf(values.text('ISE_URL')),
      never: addressesOf(values.text('ISE_NEVER_ADDRESSES')),
      assertPolicy: async (policy) => {
        if (!(await ise.hasPolicy(policy)))
          throw new NacFault(
            'setup',
            'answer',
            `The ANC policy ${policy} does not exist in ISE. Create it (Operations, Adaptive Network Control), or enter another one.`,
          )
      },
      // ISE also accepts an address without an endpoint; the policy applies from its first session on.
      reachable: async (macs) => [...macs],
      doubt: async (mac, address) => {
        const unreadable =
          'ISE does not show its sessions. Add the user to the group MnT Admin, and check the monitoring node.'
        const own = await ise.session(mac)
        if (own === 'unreadable') return unreadable
        if (own === null || !own.isLive) return `ISE has no live session of ${mac}.`
        if (own.mac !== mac || own.address !== address)
          return `The host connects from ${address}, but ISE sees ${mac} at ${own.address || 'no address'}.`
        if (own.nasAddress === '') return `ISE does not know at which switch ${mac} is.`
        // The session of a machine that left can outlive its address, and two machines can claim one.
        const there = await ise.sessionAt(address)
        if (there === 'unreadable') return unreadable
        if (there === null || !there.isLive) return `ISE has no live session at ${address}.`
        return there.mac === mac && there.nasAddress === own.nasAddress && there.nasPort === own.nasPort
          ? null
          : `At ${address}, ISE sees ${there.mac} (${there.nasAddress} ${there.nasPort}), not only ${mac} (${own.nasAddress} ${own.nasPort}).`
      },
      quarantined: ise.policiesOf,
      apply: ise.apply,
      clear: ise.clear,
      annotate: async (macs, note) => {
        let known = 0
        for (const mac of macs)
          if (
            await ise.setAttributes(mac, {
              [attributeNames.state]: note.state,
              [attributeNames.reason]: note.reason,
              [attributeNames.until]: note.until,
            })
          )
            known++
        return known === 0 ? 'ISE has no endpoint with these addresses yet.' : 'Custom attributes were set.'
      },
    }
  }

  function cactPeer(values: GroupValues<'cact'>, manner: Manner): NacPeer {
    const cact = cactOf(values, manner)
    const property = values.text('CACT_PROPERTY')
    return {
      place: placeOf(values.text('CACT_URL')),
      never: addressesOf(values.text('CACT_NEVER_ADDRESSES')),
      assertPolicy: async (policy) => {
        if (!(await cact.hasProperty()))
          throw new NacFault(
            'setup',
            'answer',
            `The property ${policy} does not exist in CounterACT. Define it there under Options, Data Exchange.`,
          )
      },
      reachable: async (macs) => {
        const known: string[] = []
        for (const mac of macs) if ((await cact.host(mac)) !== null) known.push(mac)
        if (known.length === 0 && macs.length > 0)
          throw new NacFault(
            'refused',
            'answer',
            `CounterACT does not know a host with ${macs.join(', ')}. It must detect the host first.`,
          )
        return known
      },
      doubt: async (mac, address) => {
        const own = await cact.host(mac)
        if (own === null) return `CounterACT does not know ${mac}.`
        if (own.address !== address)
          return `The host connects from ${address}, but CounterACT sees ${mac} at ${own.address}.`
        const there = await cact.macAt(address)
        return there === mac ? null : `At ${address}, CounterACT sees ${there ?? 'no host'}, not ${mac}.`
      },
      quarantined: async (macs) => {
        const found = new Map<string, string>()
        for (const mac of macs) if ((await cact.host(mac))?.property === quarantinedValue) found.set(mac, property)
        return found
      },
      apply: async (mac) => {
        const host = await cact.host(mac)
        if (host === null) throw new NacFault('refused', 'answer', `CounterACT no longer knows a host with ${mac}.`)
        await cact.set(host.address, quarantinedValue)
      },
      clear: async (mac) => {
        const host = await cact.host(mac)
        if (host !== null) await cact.unset(host.address)
      },
      annotate: async () => null,
    }
  }

  const values = {
    ise: (given?: GivenItems) => settings.values(db, 'ise', given),
    cact: (given?: GivenItems) => settings.values(db, 'cact', given),
  }

  return {
    values,
    iseOf,
    cactOf,
    traffic,
    /** Returns the settings for new and automatic quarantines. */
    rules: async (system: NacSystem) => {
      if (system === 'ise') {
        const v = await values.ise()
        return {
          isOn: v.flag('ISE_ENABLED'),
          place: placeOf(v.text('ISE_URL')),
          never: addressesOf(v.text('ISE_NEVER_ADDRESSES')),
          isAutomatic: v.flag('ISE_AUTO_QUARANTINE'),
          policy: v.text('ISE_ANC_POLICY'),
          perTenMinutes: v.number('ISE_MAX_PER_10_MINUTES'),
          excludeTags: v.text('ISE_EXCLUDE_TAGS'),
          hours: v.number('ISE_QUARANTINE_HOURS'),
        }
      }
      const v = await values.cact()
      return {
        isOn: v.flag('CACT_ENABLED'),
        place: placeOf(v.text('CACT_URL')),
        never: addressesOf(v.text('CACT_NEVER_ADDRESSES')),
        isAutomatic: v.flag('CACT_AUTO_QUARANTINE'),
        policy: v.text('CACT_PROPERTY'),
        perTenMinutes: v.number('CACT_MAX_PER_10_MINUTES'),
        excludeTags: v.text('CACT_EXCLUDE_TAGS'),
        hours: v.number('CACT_QUARANTINE_HOURS'),
      }
    },
    /** Opens a system. Throws if it is switched off. */
    open: async (system: NacSystem, policy: string, manner: Manner): Promise<NacPeer> => {
      if (system === 'ise') {
        const v = await values.ise()
        if (!v.flag('ISE_ENABLED')) throw new NacFault('away', 'connect', 'Cisco ISE is switched off in the settings.')
        return isePeer(v, manner)
      }
      const v = await values.cact()
      if (!v.flag('CACT_ENABLED')) throw new NacFault('away', 'connect', 'CounterACT is switched off in the settings.')
      // Clearing uses the property that was configured when the quarantine began.
      return cactPeer({ ...v, text: (name) => (name === 'CACT_PROPERTY' ? policy : v.text(name)) }, manner)
    },
    /** Discards cached state after a change of the configuration. */
    forget: (system: NacSystem): void => {
      traffic[system].resume()
      if (system === 'ise') known.macs.clear()
      else token.current = null
    },
  }
}
