import type { Vm } from './vm.ts'

/** A USB device that the machine makes and plugs into itself. */
export interface Gadget {
  /** Its name among the gadgets of the machine. */
  name: string
  vid: string
  pid: string
  bcdDevice: string
  manufacturer: string
  product: string
  serial: string
  functions: readonly ('keyboard' | 'storage')[]
  /** The controller it is plugged into, 0 to 3; each has one port. */
  controller: 0 | 1 | 2 | 3
}

/** Makes it, without plugging it in. */
export const makeGadget = async (vm: Vm, g: Gadget): Promise<void> => {
  const ids = [g.name, g.vid, g.pid, g.bcdDevice].join(' ')
  await vm.run(
    [
      `gadget ${ids} '${g.manufacturer}' '${g.product}' '${g.serial}'`,
      ...g.functions.map((name) => `${name}_function ${g.name}`),
    ].join('\n'),
  )
}

export const plug = (vm: Vm, g: Gadget): Promise<string> => vm.run(`plug ${g.name} ${g.controller}`)
export const unplug = (vm: Vm, g: Gadget): Promise<string> => vm.run(`unplug ${g.name}`)

/** What the kernel logged since a gadget was last plugged in: seconds since boot, and text. */
export const logSincePlug = async (vm: Vm, g: Gadget): Promise<{ at: number; text: string }[]> => {
  const lines = (await vm.run('dmesg')).split('\n').flatMap((line) => {
    const [, at, text] = /^\[ *(\d+\.\d+)\] (.*)$/.exec(line) ?? []
    return at === undefined || text === undefined ? [] : [{ at: Number(at), text }]
  })
  return lines.slice(lines.findLastIndex(({ text }) => text === `portcullis-test: plug ${g.name}`))
}
