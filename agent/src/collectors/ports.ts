import { agentLimits, type DeviceReport } from '@portcullis/contract/agent-protocol.ts'

/** Half of the protocol's body limit; the other half is for changes and facts. */
export const MAX_INVENTORY_BYTES = agentLimits.bodyBytes / 2

/** Returns the devices by port, in their order, up to the limits of the protocol. `omitted`: devices left out before. */
export const withinLimits = <Device extends { report: DeviceReport }>(
  found: readonly Device[],
  omitted = 0,
): { devices: Map<string, Device>; problems: { portPath: ''; code: 'inventory_too_large'; message: string }[] } => {
  const devices = new Map<string, Device>()
  let bytes = 0
  for (const device of found) {
    bytes += Buffer.byteLength(JSON.stringify(device.report))
    if (devices.size < agentLimits.devices && bytes <= MAX_INVENTORY_BYTES) devices.set(device.report.portPath, device)
  }
  const leftOut = omitted + found.length - devices.size
  const message = `The inventory omits ${leftOut} devices. Its limits are ${agentLimits.devices} devices and ${MAX_INVENTORY_BYTES} bytes.`
  return { devices, problems: leftOut === 0 ? [] : [{ portPath: '', code: 'inventory_too_large', message }] }
}
