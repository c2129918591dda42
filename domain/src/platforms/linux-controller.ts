import { agentLimits } from '@portcullis/contract/agent-limits.ts'
import { cut } from './reading.ts'

/** `0000:05:00.0`: domain, bus, device and function. The bus is numbered anew when a bridge gets another card. */
const PCI_FUNCTION = /^[0-9a-f]{4,8}:[0-9a-f]{2}:([0-9a-f]{2}\.[0-7])$/
/** `xhci-hcd.1.auto`: the number depends on the order of drivers. */
const AUTOMATIC = /\.\d+\.auto$/

/**
 * Returns the location of the USB controller of a device in Linux, or undefined if the path does not show it. It contains no
 * number that Linux assigns at start. The two root hubs of a controller differ in their USB version, and number their ports
 * separately.
 *
 * @param path real path of a device or root hub, such as `/sys/devices/pci0000:00/0000:00:14.0/usb1/1-3`
 */
export const linuxController = (path: string, isUsb3: boolean): string | undefined => {
  const at = path.indexOf('/devices/')
  const parents = at < 0 ? undefined : /^\/devices\/(.+?)\/usb\d{1,3}(?:\/|$)/.exec(path.slice(at))?.[1]
  if (parents === undefined) return undefined
  const steps = parents.split('/').map((step) => step.replace(PCI_FUNCTION, '$1').replace(AUTOMATIC, '.auto'))
  return `${cut(steps.join('/'), agentLimits.controller - 5)} usb${isUsb3 ? 3 : 2}`
}
