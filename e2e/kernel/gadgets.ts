import { eventually, type Vm } from '../../proof/kit/kernel/vm.ts'

/** A USB device that the virtual machine creates and attaches to itself. */
export interface Gadget {
  /** Name of the gadget. */
  name: string
  /** Four hex digits. */
  vid: string
  pid: string
  manufacturer: string
  product: string
  serial: string
  functions: readonly ('keyboard' | 'storage')[]
  /** Controller to which it is attached; each has one port. */
  controller: 0 | 1 | 2 | 3
}

/** A keyboard that no rule allows. */
export const typist: Gadget = {
  name: 'typist',
  vid: '8968',
  pid: '0001',
  manufacturer: 'Nobody',
  product: 'Keyboard',
  serial: '',
  functions: ['keyboard'],
  controller: 0,
}
/** A keyboard that rules allow by its IDs. */
export const approved: Gadget = {
  name: 'approved',
  vid: 'A103',
  pid: '0002',
  manufacturer: 'Somebody',
  product: 'Office Keyboard',
  serial: 'K-1',
  functions: ['keyboard'],
  controller: 1,
}
/** A device that is attached before the host is armed. */
export const desk: Gadget = { ...approved, name: 'desk', pid: '0003', serial: 'D-1', controller: 3 }
export const stick: Gadget = {
  ...approved,
  name: 'stick',
  pid: '0004',
  product: 'Stick',
  serial: 'S-1',
  functions: ['storage'],
  controller: 2,
}
/** A device with the IDs of the approved keyboard that also has a disk. */
export const impostor: Gadget = { ...approved, name: 'impostor', functions: ['keyboard', 'storage'] }

/** A disk with two configurations. No keyboard: the kernel makes four, and the other gadgets have them. */
export const twofold: Gadget = {
  ...approved,
  name: 'twofold',
  pid: '0006',
  product: 'Two Disks',
  serial: 'T-1',
  functions: ['storage'],
}

export const gadgets = [typist, approved, desk, stick, impostor]

/** Time limit for typing. A keystroke takes 4 to 8 ms, and several times as long under load. */
export const TYPING_MS = 120_000

/** Creates a gadget without attaching it. */
export const makeGadget = async (vm: Vm, g: Gadget): Promise<void> => {
  await vm.run(
    [
      `gadget ${g.name} ${g.vid} ${g.pid} 0100 '${g.manufacturer}' '${g.product}' '${g.serial}'`,
      ...g.functions.map((name) => `${name}_function ${g.name}`),
    ].join('\n'),
  )
}

/** Attaches a gadget and waits until the kernel has read its descriptors. */
export const plug = async (vm: Vm, g: Gadget): Promise<void> => {
  await vm.run(`plug ${g.name} ${g.controller}`)
  await kernelSays(vm, g, 'New USB device found')
}

/** Removes a gadget and waits until the kernel has noticed. */
export const unplug = async (vm: Vm, g: Gadget): Promise<void> => {
  await vm.run(`unplug ${g.name}`)
  await eventually(
    `${g.name} is gone`,
    async () => (await vm.attempt(`test -e /sys/bus/usb/devices/$(port ${g.controller})`)).code === 1,
  )
}

/** Returns whether the kernel authorised a gadget. */
export const isAuthorized = async (vm: Vm, g: Gadget): Promise<boolean> =>
  (await vm.run(`authorized ${g.controller}`)) === '1'

/** Returns the kernel log since the last attachment of a gadget, with seconds since boot. */
const logSincePlug = async (vm: Vm, g: Gadget): Promise<{ at: number; text: string }[]> =>
  (await vm.run(`log_since_plug ${g.name}`)).split('\n').flatMap((line) => {
    const [, at, text] = /^\[ *(\d+\.\d+)\] (.*)$/.exec(line) ?? []
    return at === undefined || text === undefined ? [] : [{ at: Number(at), text }]
  })

/** Waits until the kernel logs a text after the attachment of a gadget. Returns the time in between in ms. */
export const kernelSays = async (vm: Vm, g: Gadget, text: string): Promise<number> => {
  const { value } = await eventually(`the kernel says after ${g.name} was plugged in: ${text}`, async () => {
    const [first, ...rest] = await logSincePlug(vm, g)
    const found = rest.find((line) => line.text.includes(text))
    return first !== undefined && found !== undefined && { ms: (found.at - first.at) * 1000 }
  })
  return value.ms
}

/** Types on an attached keyboard as soon as the host reads it. Returns the number of keystrokes that reached input devices. */
export const typeOn = async (vm: Vm, g: Gadget, keystrokes: number): Promise<number> => {
  await eventually(`something listens to ${g.name}`, async () =>
    (await vm.run('ls /tmp/keys')).includes(`${g.vid}:${g.pid}`),
  )
  await vm.run(`type_keys ${g.name} ${keystrokes}`, TYPING_MS)
  // The last reports may still be in transit.
  const { value } = await eventually(`${keystrokes} keystrokes arrive`, async () => {
    const arrived = Number(await vm.run('keystrokes'))
    return arrived >= keystrokes && arrived
  })
  await vm.run('stop_recording')
  return value
}
