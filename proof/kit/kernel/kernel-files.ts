import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface KernelFiles {
  qemu: string
  kernel: string
  /** Folder with the modules of the kernel. */
  modules: string
  busybox: string
  udevadm: string
  /** Root folder of the libraries of udevadm. */
  unpacked: string
  /** Executable that hosts install. */
  agent: string
}

const build = fileURLToPath(new URL('../../../build', import.meta.url))
/** Folder that scripts/debian-packages.mjs fills. */
const unpacked = join(build, 'kernel')

const imageIn = (dir: string): string =>
  (existsSync(dir) ? readdirSync(dir) : []).find((name) => name.startsWith('vmlinuz-')) ?? 'vmlinuz'

export const kernelFiles: KernelFiles = {
  qemu: process.env.PORTCULLIS_QEMU ?? '/usr/bin/qemu-system-x86_64',
  kernel: join(unpacked, 'boot', imageIn(join(unpacked, 'boot'))),
  modules: join(unpacked, 'lib', 'modules'),
  busybox: '/bin/busybox',
  udevadm: join(unpacked, 'bin', 'udevadm'),
  unpacked,
  agent: join(build, 'agent', 'portcullis-agent-linux-x64'),
}

/** Reason why no kernel can be booted, or undefined. */
export const whyNoKernel = ((): string | undefined => {
  if (process.arch !== 'x64') return `this machine is ${process.arch}, the machine that is booted is x64`
  const missing = Object.values(kernelFiles).find((file) => !existsSync(file))
  return missing === undefined ? undefined : `no ${missing} (npm test -- --all gets it where it can: Debian, root)`
})()
