/** Behaviour of an endpoint of a gadgetfs device after the host has configured the device. */
export type EndpointOf = 'frames-in' | 'frames-out' | 'keys' | 'silent'

/** Commands for the device side in the virtual machine (guest/device.ts). Binary members are base64. */
export type DeviceCommand =
  | {
      /** Attaches a device with gadgetfs, one at a time. */
      do: 'plug'
      name: string
      /** Configurations for both speeds and device descriptor in the format of gadgetfs. */
      descriptors: string
      endpoints: readonly { file: string; config: string; does: EndpointOf }[]
      /** Its HID report descriptor. */
      report?: string
    }
  | {
      /** Provides one function with FunctionFS. Its gadget is attached and removed through configfs. */
      do: 'offer'
      name: string
      does: 'disk' | 'nothing'
      /** Mount point of its FunctionFS. */
      dir: string
      descriptors: string
      strings: string
      /** Number of commands before it sends an invalid answer. The host then resets it, and it returns as another device. */
      becomes?: { afterAnswers: number; attributes: Record<string, string> }
    }
  /** Types through a device node of usb_f_hid while it exists. */
  | { do: 'type'; name: string; node: string }
  | { do: 'counts'; name: string }

/** Data that the host exchanged with a device since its process started. */
export interface DeviceCounts {
  /** Ethernet frames that the host read and sent. */
  framesIn: number
  framesOut: number
  /** Sectors that the host read. */
  sectors: number
  /** Reports with a pressed key that the host read. */
  keystrokes: number
  /** Number of resets that it caused to become another device. */
  resets: number
}
