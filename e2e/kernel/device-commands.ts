/** What an endpoint of a gadgetfs device does once the host has configured the device. */
export type EndpointOf = 'frames-in' | 'frames-out' | 'keys' | 'silent'

/** What the device side in the machine is asked to do; see guest/device.ts. Binary members are base64. */
export type DeviceCommand =
  | {
      /** Plugs in a device by gadgetfs, of which there is one at a time. */
      do: 'plug'
      name: string
      /** Configuration for both speeds and device descriptor, as gadgetfs takes them. */
      descriptors: string
      endpoints: readonly { file: string; config: string; does: EndpointOf }[]
      /** Its HID report descriptor. */
      report?: string
    }
  | {
      /** One function by FunctionFS; the gadget it belongs to is plugged and unplugged through configfs. */
      do: 'offer'
      name: string
      does: 'disk' | 'nothing'
      /** Where its FunctionFS is mounted. */
      dir: string
      descriptors: string
      strings: string
      /** After so many commands it damages an answer, and is another device after the reset that this brings. */
      becomes?: { afterAnswers: number; attributes: Record<string, string> }
    }
  /** Types through a device node of usb_f_hid, whenever there is one. */
  | { do: 'type'; name: string; node: string }
  | { do: 'counts'; name: string }

/** What the host took from a device or sent to it, since its process began. */
export interface DeviceCounts {
  /** Ethernet frames that the host read, and that it sent. */
  framesIn: number
  framesOut: number
  /** Sectors that the host read. */
  sectors: number
  /** Reports with a key pressed that the host read. */
  keystrokes: number
  /** How often it changed what it is and made the host reset it. */
  resets: number
}
