import { type TreeObject, textIn, textsIn } from './tree.ts'

/** Number of an interface, with its class, subclass and protocol as the compatible ID of Windows. */
interface ChildFunction {
  number: number
  compatible: string
}

const common = '-e325-11ce-bfc1-08002be10318'
const storage = 'USB\\Class_08&SubClass_06&Prot_50'
const hid = 'USB\\Class_03&SubClass_00&Prot_00'

/**
 * Interface classes by setup class, which is the same in all languages of Windows (devguid.h). The class `USB` is absent: hubs,
 * sticks and composite devices have it.
 */
const bySetupClass: Readonly<Record<string, string>> = {
  [`4d36e965${common}`]: 'USB\\Class_08&SubClass_02&Prot_50',
  [`4d36e967${common}`]: storage,
  [`4d36e96b${common}`]: 'USB\\Class_03&SubClass_01&Prot_01',
  [`4d36e96c${common}`]: 'USB\\Class_01&SubClass_01&Prot_00',
  [`4d36e96d${common}`]: 'USB\\Class_02&SubClass_02&Prot_01',
  [`4d36e96f${common}`]: 'USB\\Class_03&SubClass_01&Prot_02',
  [`4d36e972${common}`]: 'USB\\Class_02&SubClass_06&Prot_00',
  [`4d36e978${common}`]: 'USB\\Class_02&SubClass_02&Prot_00',
  [`4d36e979${common}`]: 'USB\\Class_07&SubClass_01&Prot_02',
  [`4d36e97b${common}`]: 'USB\\Class_08&SubClass_06&Prot_62',
  '3f966bd9-fa04-4ec5-991c-d326973b5128': 'USB\\Class_FF&SubClass_42&Prot_01',
  '50dd5230-ba8a-11d1-bf5d-0000f805f530': 'USB\\Class_0B&SubClass_00&Prot_00',
  '53d29ef7-377c-4d14-864b-eb3a85769359': 'USB\\Class_FF&SubClass_00&Prot_00',
  '6bdd1fc6-810f-11d0-bec7-08002be2092f': 'USB\\Class_06&SubClass_01&Prot_01',
  '745a17a0-74d3-11d0-b6fe-00a0c90f57da': hid,
  '88bae032-5a81-49f0-bc3d-a4ff138216d6': 'USB\\Class_FF&SubClass_00&Prot_00',
  'ca3e7ab9-b4c3-4ae6-8251-579ef933890f': 'USB\\Class_0E&SubClass_01&Prot_00',
  'e0cbf06c-cd8b-4647-bb8a-263b43f0f974': 'USB\\Class_E0&SubClass_01&Prot_01',
  'eec5ad98-8080-425f-922a-dabf3de3f69a': 'USB\\Class_06&SubClass_01&Prot_01',
}

/** Returns the compatible ID of an interface that Windows gives this setup class (a GUID), or undefined. */
export const compatibleOf = (setupClass: string): string | undefined =>
  bySetupClass[setupClass.toLowerCase().replace(/[{}\s]/g, '')]

const HID_CHILD = /^HID\\VID_([0-9A-F]{4})&PID_([0-9A-F]{4})[^\\]{0,64}\\[^\\]+$/i
const DISK_CHILD = /^USBSTOR\\[^\\]{1,120}\\([^\\]+?)(?:&\d{1,3})?$/i

/** Returns whether this is the instance ID of a node below a USB device that tells what the device does. */
export const isChild = (instance: string): boolean => HID_CHILD.test(instance) || DISK_CHILD.test(instance)

const hidKey = (vid: string, pid: string): string => `HID ${vid} ${pid}`.toUpperCase()
const diskKey = (serial: string): string => `DISK ${serial}`.toUpperCase()

/** Returns what a node below a USB device belongs to: the VID and PID of a HID node, or the serial number of a disk. */
const parentKey = (instance: string): string | undefined => {
  const [, vid, pid] = HID_CHILD.exec(instance) ?? []
  if (vid !== undefined && pid !== undefined) return hidKey(vid, pid)
  const serial = DISK_CHILD.exec(instance)?.[1]
  return serial === undefined ? undefined : diskKey(serial)
}

/** Finds the nodes below USB devices. Disks of devices without a serial number are in no relation to their device. */
export const childrenOf = (
  nodes: readonly TreeObject[],
): ((device: { vid: number; pid: number; serial: string | undefined }) => ChildFunction[]) => {
  const byParent = new Map<string, Map<string, ChildFunction>>()
  for (const node of nodes) {
    const instance = textIn(node, 'InstanceId') ?? ''
    const key = parentKey(instance)
    const compatible = textsIn(node, 'CompatibleID')[0]
    if (key === undefined || compatible === undefined) continue
    const number = Number.parseInt(/&MI_([0-9A-F]{2})/i.exec(instance)?.[1] ?? '0', 16)
    const functions = byParent.get(key) ?? new Map<string, ChildFunction>()
    if (functions.size < 32) functions.set(`${number} ${compatible}`, { number, compatible })
    byParent.set(key, functions)
  }
  const hex = (id: number): string => id.toString(16).padStart(4, '0')
  return ({ vid, pid, serial }) =>
    [hidKey(hex(vid), hex(pid)), ...(serial === undefined ? [] : [diskKey(serial)])].flatMap((key) => [
      ...(byParent.get(key)?.values() ?? []),
    ])
}
