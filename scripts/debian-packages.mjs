import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

const REAL_KERNEL = 'the host agent is proved in a real kernel with real USB gadgets'

/** Where Debian puts modules of rsyslog. */
const RSYSLOG = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/rsyslog`

/** What tests need beyond npm. A test whose program is missing skips itself and says so. */
const PACKAGES = [
  { name: 'chromium', provides: '/usr/bin/chromium', why: 'the console is tested in a real browser' },
  {
    name: 'chromium-headless-shell',
    provides: '/usr/bin/chromium-headless-shell',
    why: 'the same engine without windows takes half the time',
    isOptional: true,
  },
  { name: 'qpdf', provides: '/usr/bin/qpdf', why: 'PDF files are checked by another program' },
  { name: 'openssh-server', provides: '/usr/sbin/sshd', why: 'hosts are polled over real SSH' },
  { name: 'slapd', provides: '/usr/sbin/slapd', why: 'people sign in by a real directory' },
  { name: 'ldap-utils', provides: '/usr/bin/ldapadd', why: 'the directory of the tests is filled' },
  { name: 'nats-server', provides: '/usr/sbin/nats-server', why: 'assets are published to a real NATS' },
  { name: 'rsyslog', provides: '/usr/sbin/rsyslogd', why: 'events arrive at a real syslog receiver' },
  { name: 'rsyslog-gnutls', provides: `${RSYSLOG}/lmnsd_gtls.so`, why: 'and over TLS, by GnuTLS' },
  { name: 'rsyslog-openssl', provides: `${RSYSLOG}/lmnsd_ossl.so`, why: 'and over TLS, by OpenSSL' },
  { name: 'poppler-utils', provides: '/usr/bin/pdftotext', why: 'PDF files are read back' },
  // The agent that runs in the emulated machine is this machine's: only x64 is booted.
  ...(process.arch === 'x64'
    ? [
        { name: 'qemu-system-x86', provides: '/usr/bin/qemu-system-x86_64', why: REAL_KERNEL, isSlow: true },
        { name: 'busybox-static', provides: '/bin/busybox', why: REAL_KERNEL, isSlow: true },
      ]
    : []),
]

const ENVIRONMENT = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }

/** Where the kernel that tests boot is unpacked: `boot/`, `lib/modules/`, `bin/udevadm` and its libraries. */
const KERNEL = join(ROOT, 'build', 'kernel')
/** Says what was unpacked: another list is unpacked anew. */
const CONTENTS = join(KERNEL, 'contents')
/** Of a kernel of 400 MB only what gadgets, the USB host side and its drivers, input, disks, network, sound and a console need. */
const KERNEL_PARTS = [
  './boot/vmlinuz-*',
  ...['block', 'crypto', 'lib', 'fs', 'sound', 'arch/x86/crypto'].map((dir) => `./lib/modules/*/kernel/${dir}/*`),
  ...['usb', 'hid', 'input', 'scsi', 'net/ethernet/intel', 'net/usb', 'net/phy', 'media/mc', 'virtio', 'char'].map(
    (dir) => `./lib/modules/*/kernel/drivers/${dir}/*`,
  ),
  './lib/modules/*/kernel/drivers/net/mii.ko',
]

/**
 * Installs the missing packages as root on Debian. Elsewhere, prints why it cannot. Installs packages that only slow tests
 * need only when those tests run.
 */
export function installDebianPackages({ isSlow }) {
  const needed = PACKAGES.filter((one) => isSlow || one.isSlow !== true)
  installPrograms(needed.filter((one) => one.isOptional !== true))
  // By itself: a package that this Debian does not have fails the whole installation.
  installPrograms(
    needed.filter((one) => one.isOptional),
    'tests take longer',
  )
  if (isSlow && process.arch === 'x64' && !isUnpacked()) unpackKernel()
}

const isUnpacked = () => existsSync(CONTENTS) && readFileSync(CONTENTS, 'utf8') === KERNEL_PARTS.join('\n')

function installPrograms(packages, otherwise = 'their tests are skipped') {
  const missing = packages.filter(({ provides }) => !existsSync(provides))
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name)
  for (const { name, why } of missing) console.log(`missing: ${name} (${why})`)
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.log(`not installed: that takes root on Debian (apt-get install ${names.join(' ')}); ${otherwise}`)
    return
  }
  console.log(`installing ${names.join(' ')} with apt-get`)
  // Package lists are usually absent or old in a container, so an update comes first; its failure shows in the install.
  run('apt-get', 'update', '-q')
  const { ok, output } = run('apt-get', 'install', '-q', '-y', '--no-install-recommends', ...names)
  if (!ok) console.log(`not installed, ${otherwise}: ${output.trim().split('\n').at(-1)}`)
}

/** The kernel is booted, not installed: its package is only unpacked, and that takes Debian but not root. */
function unpackKernel() {
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb')) {
    console.log(`no kernel to boot: that takes Debian's packages (${REAL_KERNEL}); its tests are skipped`)
    return
  }
  console.log(`unpacking Debian's kernel into build/kernel (${REAL_KERNEL})`)
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  try {
    fetchKernel()
  } catch {
    // Package lists that are absent or older than the archive; as another user than root this changes nothing.
    run('apt-get', 'update', '-q')
    try {
      fetchKernel()
    } catch (error) {
      console.log(`no kernel to boot, its tests are skipped: ${error.message}`)
    }
  }
}

function fetchKernel() {
  const draft = mkdtempSync(join(ROOT, 'build', 'kernel-draft-'))
  try {
    const image = run('apt-cache', 'depends', 'linux-image-amd64').output.match(/linux-image-[0-9]\S*/)?.[0]
    if (image === undefined) throw new Error('no package list names linux-image-amd64')
    unpack(draft, image, KERNEL_PARTS)
    unpack(draft, 'udev', ['./*bin/udevadm'])
    unpack(draft, 'libkmod2', ['*/libkmod.so*'])
    writeFileSync(join(draft, 'contents'), KERNEL_PARTS.join('\n'))
    // Swapped as a whole: a run that was cut short leaves no half of a kernel.
    rmSync(KERNEL, { recursive: true, force: true })
    renameSync(draft, KERNEL)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Downloads a package and unpacks the named parts of it. */
function unpack(into, name, parts) {
  const download = mkdtempSync(join(into, 'package-'))
  const got = run('sh', '-c', 'cd "$1" && apt-get download -q "$2"', 'sh', download, name)
  const [file] = readdirSync(download)
  if (!got.ok || file === undefined) throw new Error(`${name}: ${got.output.trim().split('\n').at(-1)}`)
  const pipe = 'package=$1 into=$2; shift 2; dpkg-deb --fsys-tarfile "$package" | tar -x -C "$into" --wildcards "$@"'
  const done = run('sh', '-c', pipe, 'sh', join(download, file), into, ...parts)
  if (!done.ok) throw new Error(`${name} could not be unpacked: ${done.output.trim().split('\n').at(-1)}`)
  rmSync(download, { recursive: true })
}

function run(program, ...args) {
  const done = spawnSync(program, args, { env: ENVIRONMENT, encoding: 'utf8', timeout: 240_000 })
  return { ok: done.status === 0, output: `${done.stdout}${done.stderr}` }
}
