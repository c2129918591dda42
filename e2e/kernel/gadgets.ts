import { until } from '../harness.ts'
import type { Vm } from './vm.ts'

/** A USB device that the machine makes and plugs into itself. */
export interface Gadget {
  /** Its name among the gadgets of the machine. */
  name: string
  /** Four hex digits. */
  vid: string
  pid: string
  manufacturer: string
  product: string
  serial: string
  functions: readonly ('keyboard' | 'storage')[]
  /** The controller it is plugged into; each has one port. */
  controller: 0 | 1 | 2 | 3
}

/** Nobody ever approved it. */
export const typist: Gadget = {
  name: 'typist',
  vid: 'F00D',
  pid: '0001',
  manufacturer: 'Nobody',
  product: 'Keyboard',
  serial: '',
  functions: ['keyboard'],
  controller: 0,
}
/** Rules allow it by its ids. */
export const approved: Gadget = {
  name: 'approved',
  vid: 'ABCD',
  pid: '0002',
  manufacturer: 'Somebody',
  product: 'Office Keyboard',
  serial: 'K-1',
  functions: ['keyboard'],
  controller: 1,
}
/** Stays plugged in from before the host is armed. */
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
/** Says it is the approved keyboard, and has a disk besides. */
export const impostor: Gadget = { ...approved, name: 'impostor', functions: ['keyboard', 'storage'] }

export const gadgets = [typist, approved, desk, stick, impostor]

/** Makes it, without plugging it in. */
export const makeGadget = async (vm: Vm, g: Gadget): Promise<void> => {
  await vm.run(
    [
      `gadget ${g.name} ${g.vid} ${g.pid} 0100 '${g.manufacturer}' '${g.product}' '${g.serial}'`,
      ...g.functions.map((name) => `${name}_function ${g.name}`),
    ].join('\n'),
  )
}

/** Plugs it in, and waits until the kernel has read its descriptors. */
export const plug = async (vm: Vm, g: Gadget): Promise<void> => {
  await vm.run(`plug ${g.name} ${g.controller}`)
  await kernelSays(vm, g, 'New USB device found')
}

/** Pulls it out, and waits until the kernel has noticed. */
export const unplug = async (vm: Vm, g: Gadget): Promise<void> => {
  await vm.run(`unplug ${g.name}`)
  await until(
    `${g.name} is gone`,
    async () => (await vm.attempt(`test -e /sys/bus/usb/devices/$(port ${g.controller})`)).code === 1,
  )
}

/** Whether the kernel lets it be used. */
export const isAuthorized = async (vm: Vm, g: Gadget): Promise<boolean> =>
  (await vm.run(`authorized ${g.controller}`)) === '1'

/** What the kernel logged since a gadget was last plugged in: seconds since boot, and text. */
const logSincePlug = async (vm: Vm, g: Gadget): Promise<{ at: number; text: string }[]> => {
  const lines = (await vm.run('dmesg')).split('\n').flatMap((line) => {
    const [, at, text] = /^\[ *(\d+\.\d+)\] (.*)$/.exec(line) ?? []
    return at === undefined || text === undefined ? [] : [{ at: Number(at), text }]
  })
  return lines.slice(lines.findLastIndex(({ text }) => text === `portcullis-test: plug ${g.name}`))
}

/** Waits until the kernel logged a text since a gadget was plugged in; gives the ms in between, by the kernel's clock. */
export const kernelSays = async (vm: Vm, g: Gadget, text: string): Promise<number> => {
  const { value } = await until(`the kernel says after ${g.name} was plugged in: ${text}`, async () => {
    const [first, ...rest] = await logSincePlug(vm, g)
    const found = rest.find((line) => line.text.includes(text))
    return first !== undefined && found !== undefined && { ms: (found.at - first.at) * 1000 }
  })
  return value.ms
}

/** Plugs a keyboard in, types on it as soon as it listens, and gives how many of the keystrokes arrived at input devices. */
export const typeOn = async (vm: Vm, g: Gadget, keystrokes: number): Promise<number> => {
  await until(`something listens to ${g.name}`, async () =>
    (await vm.run('ls /tmp/keys')).includes(`${g.vid}:${g.pid}`),
  )
  await vm.run(`type_keys ${g.name} ${keystrokes} 30`)
  return Number(await vm.run('stop_recording; keystrokes'))
}
