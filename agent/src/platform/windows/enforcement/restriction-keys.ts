/** Keys, values and contents of the Device Installation Restrictions of Windows (Policy CSP DeviceInstallation). */
import type { RegistryKey } from '../registry.ts'

const DEVICE_INSTALL = 'HKLM\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall'
export const RESTRICTIONS: RegistryKey = `${DEVICE_INSTALL}\\Restrictions`
/** The agent's own key: the previous values, what the agent wrote, and the devices that the lists contain. */
export const OWN_KEY: RegistryKey = 'HKLM\\Software\\PortcullisEnforcement'
export const MDM_KEY: RegistryKey = 'HKLM\\Software\\Microsoft\\PolicyManager\\current\\device\\DeviceInstallation'

/**
 * The lists of the agent. Each is a value with the number 1 and a key of the same name with the entries `1`, `2`, ….
 * Device IDs are hardware and compatible IDs.
 */
export const FIRST_LISTS = ['AllowDeviceIDs', 'AllowInstanceIDs', 'DenyInstanceIDs'] as const
export const LISTS = [...FIRST_LISTS, 'DenyDeviceIDs'] as const
export type ListName = (typeof LISTS)[number]
/** In the order of writing: without `AllowDenyLayered`, a deny would override every allow. */
export const SWITCHES = [...FIRST_LISTS, 'AllowDenyLayered', 'DenyDeviceIDs', 'DenyRemovableDevices'] as const
export type SwitchName = (typeof SWITCHES)[number]

/** Hubs. Without them, no device of a dock works. */
export const HUB_IDS = ['USB\\Class_09', 'USB\\USB20_HUB', 'USB\\USB30_HUB'] as const
const HUB_CLASS = 0x09
/**
 * Devices and functions of every other class. `DenyRemovableDevices` alone is not enough: the hub of a device reports
 * whether the device is removable, and an attacker can bring a hub. Allowed instances take precedence.
 */
export const DENIED_IDS: readonly string[] = [
  ...['USB\\COMPOSITE', 'USB\\DevClass_00', 'USB\\DevClass_EF'],
  ...Array.from({ length: 256 }, (_, number) => number)
    .filter((number) => number !== HUB_CLASS)
    .map((number) => `USB\\Class_${number.toString(16).toUpperCase().padStart(2, '0')}`),
]
/** Marks the policy as set by the agent. No device has this ID. */
export const OWNER_ID = 'PORTCULLIS\\MANAGED'
/** The lists whose contents never change. */
export const FIXED_LISTS: Partial<Record<ListName, readonly string[]>> = {
  AllowDeviceIDs: [...HUB_IDS, OWNER_ID],
  DenyDeviceIDs: DENIED_IDS,
}

export const listKey = (name: ListName): RegistryKey => `${RESTRICTIONS}\\${name}`
export const fold = (text: string): string => text.toUpperCase()

/** Keys that the agent writes to, parents first. */
export const TOUCHED: readonly RegistryKey[] = [DEVICE_INSTALL, RESTRICTIONS, ...LISTS.map(listKey)]
