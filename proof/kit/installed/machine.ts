import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDebianRoot, type DebianRoot, type Suite, whyNoDebianRoot } from '../../../scripts/release/debian-root.ts'
import { type CpioEntry, cpio } from '../kernel/cpio.ts'
import { kernelFiles, whyNoKernel } from '../kernel/kernel-files.ts'
import { moduleFiles } from '../kernel/modules.ts'
import { bootVm, type Vm } from '../kernel/vm.ts'

/** Modules that find and mount the disk, and provide the port of the shell. */
const MODULES = ['virtio_pci', 'virtio_scsi', 'sd_mod', 'crc32c_generic', 'ext4', 'virtio_console', 'virtio-rng']

/** Units that only cost time in an emulated machine. */
const MASKED = [
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
  'fstrim.timer',
  'getty.target',
  'getty@tty1.service',
  'serial-getty@ttyS0.service',
  'proc-sys-fs-binfmt_misc.automount',
  'systemd-logind.service',
  'systemd-journal-flush.service',
  'systemd-pstore.service',
  'systemd-random-seed.service',
  'systemd-timesyncd.service',
  'systemd-networkd.service',
  'systemd-firstboot.service',
  'systemd-udev-trigger.service',
  'systemd-update-utmp.service',
  'sys-kernel-tracing.mount',
  'sys-kernel-debug.mount',
]

const MEMORY_MB = 2_048
const DISK = '4G'
/** An emulated boot takes half a minute, and longer under load. */
const BOOT_MS = 280_000

const guest = (name: string): string => fileURLToPath(new URL(`guest/${name}`, import.meta.url))

/** Returns why this machine cannot boot a Debian system, or null. */
export const whyNoMachine = (): string | null => whyNoKernel ?? whyNoDebianRoot()

/** Creates a Debian system that `bootDebian` can boot. Install packages in it with `run`. */
export const createMachineRoot = (suite: Suite): DebianRoot => {
  const root = createDebianRoot(suite, { hasSystemd: true })
  const write = (path: string, text: string) => {
    mkdirSync(join(root.dir, path, '..'), { recursive: true })
    writeFileSync(join(root.dir, path), text)
  }
  write('usr/local/lib/test/shell.sh', readFileSync(guest('shell.sh'), 'utf8'))
  write('etc/systemd/system/test-shell.service', readFileSync(guest('shell.service'), 'utf8'))
  const wanted = 'etc/systemd/system/sysinit.target.wants'
  mkdirSync(join(root.dir, wanted), { recursive: true })
  symlinkSync('../test-shell.service', join(root.dir, wanted, 'test-shell.service'))
  for (const unit of MASKED) {
    const path = join(root.dir, 'etc/systemd/system', unit)
    rmSync(path, { force: true })
    symlinkSync('/dev/null', path)
  }
  // A fixed identity, so that the first boot is an ordinary one.
  write('etc/machine-id', `${'f1e2d3c4b5a69788'.repeat(2)}\n`)
  write('etc/hostname', 'machine\n')
  write('etc/hosts', '127.0.0.1 localhost machine\n::1 localhost\n')
  return root
}

const writeInitramfs = (to: string): void => {
  const modules = moduleFiles(kernelFiles.modules, MODULES)
  const entries: CpioEntry[] = [
    { path: 'bin/busybox', mode: 0o755, content: readFileSync(kernelFiles.busybox) },
    { path: 'init', mode: 0o755, content: readFileSync(guest('init.sh')) },
    { path: 'modules/order', content: Buffer.from(modules.map(({ name }) => `${name}\n`).join('')) },
    ...modules.map(({ name, content }) => ({ path: `modules/${name}.ko`, content })),
  ]
  writeFileSync(to, Buffer.concat(cpio(entries)))
}

/** Writes a folder as the file system of a disk. */
const writeDisk = (from: string, to: string): void => {
  writeFileSync(to, '')
  truncateSync(to, 4 * 1024 ** 3)
  const options = 'lazy_itable_init=1,lazy_journal_init=1,nodiscard'
  const args = ['-q', '-F', '-t', 'ext4', '-O', '^has_journal', '-E', options, '-m', '0', '-d', from, to, DISK]
  const done = spawnSync('/usr/sbin/mke2fs', args, { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`mke2fs failed: ${done.stderr}`)
}

/**
 * Boots the system in an emulated machine with its systemd, and returns a shell in it. The machine has a copy of the
 * files: the folder does not change.
 *
 * @param dir folder for the disk and the log
 */
export const bootDebian = async (root: DebianRoot, dir: string): Promise<Vm> => {
  const initramfs = join(dir, 'initramfs')
  const disk = join(dir, 'disk')
  writeInitramfs(initramfs)
  writeDisk(root.dir, disk)
  return bootVm({
    ...kernelFiles,
    initramfs,
    dir,
    memoryMb: MEMORY_MB,
    parameters: 'systemd.show_status=false quiet',
    bootMs: BOOT_MS,
    options: [
      ...['-device', 'virtio-scsi-pci', '-device', 'scsi-hd,drive=disk', '-device', 'virtio-rng-pci'],
      // The disk does not outlive the machine, so that nothing needs to be flushed.
      ...['-drive', `id=disk,if=none,format=raw,cache=unsafe,file=${disk}`],
    ],
  })
}
