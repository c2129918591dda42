import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cpio } from '../../proof/kit/kernel/cpio.ts'
import { kernelFiles } from '../../proof/kit/kernel/kernel-files.ts'
import { moduleFiles } from '../../proof/kit/kernel/modules.ts'
import { bootVm } from '../../proof/kit/kernel/vm.ts'
import { driversDir, KERNEL_RELEASES } from '../../scripts/debian-packages.mjs'
import { guestFile } from './initramfs.ts'

/** A driver that a kernel registers on a bus. */
export interface KernelDriver {
  bus: 'usb' | 'hid'
  name: string
  /** Folder of its module below `kernel/`, for example `drivers/net/usb`. Empty if it is built in. */
  folder: string
}

/** What is needed to boot a kernel and load its modules. */
interface DriverFiles {
  qemu: string
  busybox: string
  kernel: string
  modules: string
}

/** Returns the kernels that scripts/debian-packages.mjs unpacked, and why others are missing. */
export const kernelsWithDrivers = (): { release: string; files: DriverFiles; whyNot: string | undefined }[] =>
  KERNEL_RELEASES.map((release) => {
    const dir = driversDir(release)
    const boot = join(dir, 'boot')
    const image = (existsSync(boot) ? readdirSync(boot) : []).find((name) => name.startsWith('vmlinuz'))
    const { qemu, busybox } = kernelFiles
    const files = { qemu, busybox, kernel: join(boot, image ?? 'vmlinuz'), modules: dir }
    const missing = Object.values(files).find((file) => !existsSync(file))
    const whyNot = missing === undefined ? undefined : `no ${missing} (npm test -- --all gets it where it can: Debian)`
    return { release, files, whyNot }
  })

/** Symbols that a module needs if it registers a driver for USB interfaces, USB devices, or HID devices. */
const REGISTERS = [
  'usb_register_driver',
  'usb_serial_register_drivers',
  'usb_register_device_driver',
  'hid_register_driver',
]
/** Modules of the shell of the machine. */
const SHELL = ['virtio_pci', 'virtio_console']
/** Emulation takes 25 to 80 s for 600 modules, and several times as long under load. */
const BOOT_MS = 600_000

const LIST = `for bus in usb hid; do
  for driver in /sys/bus/$bus/drivers/*; do module=$(readlink "$driver/module"); echo "$bus|\${driver##*/}|\${module##*/}"; done
done`

/** Boots a kernel, loads every module that registers a driver on one of the buses, and returns the drivers. */
export const driversOfKernel = async (
  files: DriverFiles,
  dir: string,
): Promise<{ release: string; drivers: KernelDriver[]; notLoaded: string[] }> => {
  const paths = readdirSync(files.modules, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ko'))
  const folders = new Map<string, string>()
  const names: string[] = []
  for (const path of paths) {
    const name = basename(path, '.ko').replaceAll('-', '_')
    folders.set(name, /kernel\/(.+)\/[^/]+$/.exec(path)?.[1] ?? '')
    const content = readFileSync(join(files.modules, path))
    if (REGISTERS.some((symbol) => content.includes(symbol))) names.push(name)
  }
  const modules = moduleFiles(files.modules, [...SHELL, ...names])
  const initramfs = join(dir, 'initramfs')
  writeFileSync(
    initramfs,
    Buffer.concat(
      cpio([
        { path: 'bin/busybox', mode: 0o755, content: readFileSync(files.busybox) },
        { path: 'init', mode: 0o755, content: guestFile('init.sh') },
        { path: 'guest.sh', content: guestFile('guest.sh') },
        { path: 'modules/order', content: Buffer.from(modules.map(({ name }) => `${name}\n`).join('')) },
        ...modules.map(({ name, content }) => ({ path: `modules/${name}.ko`, content })),
      ]),
    ),
  )
  const vm = await bootVm({ ...files, initramfs, dir, bootMs: BOOT_MS })
  try {
    const lines = (await vm.run(LIST)).split('\n')
    const notLoaded = readFileSync(join(dir, 'console.log'), 'utf8').matchAll(/^module (\S+): not loaded/gm)
    return {
      release: await vm.run('uname -r'),
      drivers: lines.map((line) => {
        const [bus = '', name = '', module = ''] = line.split('|')
        return { bus: bus === 'hid' ? 'hid' : 'usb', name, folder: folders.get(module) ?? '' }
      }),
      notLoaded: [...notLoaded].map(([, name = '']) => name),
    }
  } finally {
    await vm.stop()
  }
}

const WIDTH = 118

/** Returns a folder with its drivers as lines of a list in `kernel-drivers.ts`. Names contain spaces and commas, so bars separate them. */
const linesOf = (folder: string, names: readonly string[]): string[] => {
  const lines: string[] = []
  let line = `${folder}:`
  for (const [i, name] of names.entries()) {
    const word = ` ${name}${i === names.length - 1 ? '' : ' |'}`
    if (line.length + word.length > WIDTH) {
      lines.push(line)
      line = ' '
    }
    line += word
  }
  return [...lines, line]
}

/** Returns the source text of `domain/src/kernel-drivers.ts` with these drivers. */
export const driversAsSource = (releases: readonly string[], drivers: readonly KernelDriver[]): string => {
  const list = (bus: KernelDriver['bus']): string[] => {
    const byFolder = Map.groupBy(
      drivers.filter((one) => one.bus === bus),
      ({ folder }) => folder,
    )
    return [...byFolder]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([folder, found]) => linesOf(folder, [...new Set(found.map(({ name }) => name))].sort()))
  }
  return [
    '// Written by `node e2e/kernel/write-driver-names.ts`. Do not edit.',
    `// From these kernels of Debian with all modules that register a driver: ${releases.join(', ')}.`,
    '',
    '/** Names of drivers as in /sys/bus/usb/drivers or /sys/bus/hid/drivers, by the folder of their module below `kernel/`. */',
    'type ByFolder = ReadonlyMap<string, readonly string[]>',
    '',
    'const byFolder = (text: string): ByFolder =>',
    '  new Map(',
    '    text',
    '      .trim()',
    '      .split(/\\n(?! )/)',
    '      .map((entry) => {',
    "        const [folder = '', names = ''] = entry.split(': ', 2)",
    '        return [folder, names.split(/\\s*\\|\\s*/)]',
    '      }),',
    '  )',
    '',
    'export const usbDrivers = byFolder(`',
    ...list('usb'),
    '`)',
    '',
    'export const hidDrivers = byFolder(`',
    ...list('hid'),
    '`)',
    '',
  ].join('\n')
}
