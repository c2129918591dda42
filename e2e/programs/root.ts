import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kernelFiles, whyNoKernel } from '../../proof/kit/kernel/kernel-files.ts'
import { pristineRoot, whyNoDebianRoot } from '../../scripts/release/debian-root.ts'

/** The programs that use devices, and what a machine with systemd needs to run them. */
const PACKAGES = [
  ...['systemd', 'systemd-sysv', 'libpam-systemd', 'udev', 'dbus', 'polkitd', 'kmod', 'iproute2', 'linux-image-amd64'],
  ...['usbmuxd', 'usb-modeswitch', 'libmtp-runtime', 'libgphoto2-6t64', 'fwupd', 'fprintd', 'ipp-usb'],
  ...['pcscd', 'libccid', 'modemmanager', 'udisks2'],
]

/** Runs the scripts of the tests: each line of the port is a number and a script in base64 (init.sh of the other machine). */
const SHELL = `#!/bin/bash
modprobe -a vhci-hcd virtio_console virtio_net
until [ -e /dev/vport0p1 ] && net=$(echo /sys/bus/virtio/drivers/virtio_net/virtio*/net/*) && [ -e "$net" ]; do sleep 0.1; done
ip link set \${net##*/} up
ip addr add 10.0.2.15/24 dev \${net##*/}
ip route add default via 10.0.2.2
exec <>/dev/vport0p1 >&0
echo ready
while read -r number script; do
  echo "$script" | base64 -d >/run/script
  bash /run/script >/run/output 2>&1 </dev/null
  code=$?
  echo "$number $code $(base64 -w 0 </run/output)"
done
`
const UNIT = `[Unit]
After=multi-user.target
[Service]
ExecStart=/usr/local/sbin/portcullis-shell
[Install]
WantedBy=multi-user.target
`
/** Services that would only take time. */
const MASKED = [
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
  'fstrim.timer',
  'dpkg-db-backup.timer',
  'fwupd-refresh.timer',
  'getty@tty1.service',
  'serial-getty@ttyS0.service',
  'systemd-timesyncd.service',
  'keyboard-setup.service',
  'logrotate.timer',
  'systemd-binfmt.service',
  'proc-sys-fs-binfmt_misc.automount',
  'systemd-pstore.service',
]
/** Settings with which the services run until the end: a restart takes longer than a test waits. */
const SETTINGS = {
  'etc/fwupd/fwupd.conf':
    '[fwupd]\nIdleTimeout=0\nDisabledPlugins=tpm;uefi_capsule;bios;cpu;msr;pci_mei;linux_display\n',
  'etc/systemd/system/fprintd.service.d/keep.conf':
    '[Service]\nExecStart=\nExecStart=/usr/libexec/fprintd --no-timeout\n',
  'etc/systemd/system/pcscd.service.d/keep.conf': '[Service]\nExecStart=\nExecStart=/usr/sbin/pcscd --foreground\n',
  'etc/machine-id': '5f0c1d8e2b7a4c6d9e3f1a2b3c4d5e6f\n',
  'etc/fstab': '',
}

const run = (program: string, ...args: string[]): void => {
  const done = spawnSync(program, args, { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${done.stderr || done.error}`)
}

const prepare = (dir: string): void => {
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), text, { mode })
  }
  write('usr/local/sbin/portcullis-shell', SHELL, 0o755)
  write('etc/systemd/system/portcullis-shell.service', UNIT)
  for (const [path, text] of Object.entries(SETTINGS)) write(path, text)
  // Only what the machine needs to mount its disk: the initramfs is unpacked by a slow processor.
  write('etc/initramfs-tools/conf.d/small', 'MODULES=list\nCOMPRESS=gzip\n')
  write('etc/initramfs-tools/modules', 'virtio_pci\nvirtio_blk\next4\ncrc32c_generic\n')
  run('chroot', dir, 'update-initramfs', '-u')
  run('chroot', dir, 'systemctl', 'enable', 'portcullis-shell.service')
  run('chroot', dir, 'systemctl', 'mask', ...MASKED)
  // systemd then does not rebuild caches at the start.
  write('etc/.updated', '')
  write('var/.updated', '')
}

/** Returns why no machine with these programs can be booted, or undefined. */
export const whyNoPrograms =
  whyNoKernel ??
  whyNoDebianRoot() ??
  (existsSync('/usr/sbin/mke2fs') ? undefined : 'mke2fs is missing (apt-get install e2fsprogs)')

const fileIn = (dir: string, prefix: string): string =>
  join(dir, readdirSync(dir).find((name) => name.startsWith(prefix)) ?? prefix)

/** Returns the files of the machine. They are kept until the packages or the scripts change. */
export const programsMachine = () => {
  const digest = createHash('sha256')
    .update(JSON.stringify([PACKAGES, MASKED, SETTINGS, SHELL, UNIT, prepare.toString()]))
    .digest('hex')
  const root = pristineRoot(`programs-${digest.slice(0, 12)}`, 'trixie', PACKAGES, prepare)
  const disk = `${root}.img`
  if (!existsSync(disk)) {
    const draft = `${disk}.${process.pid}`
    rmSync(draft, { force: true })
    run('mke2fs', '-q', '-t', 'ext4', '-d', root, '-L', 'root', draft, '2G')
    renameSync(draft, disk)
  }
  const boot = join(root, 'boot')
  return { qemu: kernelFiles.qemu, kernel: fileIn(boot, 'vmlinuz-'), initramfs: fileIn(boot, 'initrd.img-'), disk }
}
