import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CpioEntry, cpio } from '../../proof/kit/kernel/cpio.ts'
import type { KernelFiles } from '../../proof/kit/kernel/kernel-files.ts'
import { moduleFiles } from '../../proof/kit/kernel/modules.ts'

/** Modules that the virtual machine needs in addition to those built into Debian's kernel. */
const MODULES = [
  'configfs',
  'dummy_hcd',
  'libcomposite',
  'usb_f_hid',
  'usb_f_mass_storage',
  'usb_f_fs',
  'usb_f_midi',
  'gadgetfs',
  'xhci-pci',
  'usbhid',
  'hid-generic',
  'hid-mcp2221',
  'evdev',
  'uhid',
  'usb-storage',
  'uas',
  'rtl8150',
  'iowarrior',
  'snd-usb-audio',
  'ftdi_sio',
  'sd_mod',
  'crc32c_generic',
  'ext4',
  'e1000',
  'virtio_pci',
  'virtio_console',
]

export const guestFile = (name: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`guest/${name}`, import.meta.url)))

/**
 * Returns a program and the libraries that its loader needs, at the paths where the loader searches for them.
 *
 * @param unpacked folder of an unpacked package, whose libraries take precedence as if they were in `/`
 */
const program = (file: string, path: string, unpacked = ''): CpioEntry[] => {
  const libraries = execFileSync('ldd', [file], {
    encoding: 'utf8',
    env: unpacked === '' ? {} : { LD_LIBRARY_PATH: join(unpacked, 'usr/lib/x86_64-linux-gnu') },
  })
    .split('\n')
    .flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? [])
  return [file, ...libraries].map((from, index) => ({
    path: index === 0 ? path : (from.startsWith(unpacked) ? from.slice(unpacked.length) : from).slice(1),
    mode: 0o755,
    content: readFileSync(from),
  }))
}

/** Writes the root file system of the virtual machine: busybox, modules, the scripts of `guest/` and the agent. */
export const writeInitramfs = (files: KernelFiles, to: string): void => {
  const modules = moduleFiles(files.modules, MODULES)
  const entries: CpioEntry[] = [
    { path: 'bin/busybox', mode: 0o755, content: readFileSync(files.busybox) },
    { path: 'init', mode: 0o755, content: guestFile('init.sh') },
    { path: 'guest.sh', content: guestFile('guest.sh') },
    { path: 'use.sh', mode: 0o755, content: guestFile('use.sh') },
    { path: 'device.mjs', content: Buffer.from(stripTypeScriptTypes(guestFile('device.ts').toString())) },
    ...program(process.execPath, 'usr/local/bin/node'),
    { path: 'modules/order', content: Buffer.from(modules.map(({ name }) => `${name}\n`).join('')) },
    ...modules.map(({ name, content }) => ({ path: `modules/${name}.ko`, content })),
    ...program(files.udevadm, 'bin/udevadm', files.unpacked),
    ...program(files.agent, 'usr/local/bin/portcullis-agent'),
  ]
  const unique = new Map(entries.map((entry) => [entry.path, entry]))
  writeFileSync(to, Buffer.concat(cpio([...unique.values()])))
}
