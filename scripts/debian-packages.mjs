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

const BALANCER = 'agents connect through real TCP balancers and a real HTTP proxy'
const REAL_KERNEL = 'the host agent is tested in a real kernel with real USB gadgets'

/** Directory of rsyslog's modules on Debian. */
const RSYSLOG = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/rsyslog`

/** Packages that tests need in addition to npm. A test whose program is missing is skipped with a reason. */
const PACKAGES = [
  { name: 'chromium', provides: '/usr/bin/chromium', why: 'the console is tested in a real browser' },
  {
    name: 'chromium-headless-shell',
    provides: '/usr/bin/chromium-headless-shell',
    why: 'the headless engine takes half the time',
    isOptional: true,
  },
  { name: 'qpdf', provides: '/usr/bin/qpdf', why: 'an independent program checks PDF files' },
  { name: 'openssh-server', provides: '/usr/sbin/sshd', why: 'hosts are polled over real SSH' },
  { name: 'slapd', provides: '/usr/sbin/slapd', why: 'people sign in with a real directory' },
  { name: 'ldap-utils', provides: '/usr/bin/ldapadd', why: 'tests add entries to the directory' },
  { name: 'nats-server', provides: '/usr/sbin/nats-server', why: 'assets are published to a real NATS' },
  { name: 'rsyslog', provides: '/usr/sbin/rsyslogd', why: 'events arrive at a real syslog receiver' },
  { name: 'rsyslog-gnutls', provides: `${RSYSLOG}/lmnsd_gtls.so`, why: 'and over TLS, by GnuTLS' },
  { name: 'rsyslog-openssl', provides: `${RSYSLOG}/lmnsd_ossl.so`, why: 'and over TLS, by OpenSSL' },
  { name: 'nginx', provides: '/usr/sbin/nginx', why: BALANCER, isSlow: true },
  {
    name: 'libnginx-mod-stream',
    provides: '/usr/lib/nginx/modules/ngx_stream_module.so',
    why: BALANCER,
    isSlow: true,
  },
  { name: 'haproxy', provides: '/usr/sbin/haproxy', why: BALANCER, isSlow: true },
  { name: 'ansible-core', provides: '/usr/bin/ansible-playbook', why: 'the role is run in a chroot', isSlow: true },
  { name: 'tinyproxy', provides: '/usr/bin/tinyproxy', why: BALANCER, isSlow: true },
  {
    name: 'libreoffice-calc-nogui',
    provides: '/usr/bin/soffice',
    why: 'exports are opened in a spreadsheet program',
    isSlow: true,
  },
  { name: 'poppler-utils', provides: '/usr/bin/pdftotext', why: 'PDF files are read back' },
  ...['debootstrap', 'rpm'].map((name) => ({
    name,
    provides: name === 'rpm' ? '/usr/bin/rpmbuild' : '/usr/sbin/debootstrap',
    why: 'packages are installed in fresh systems',
    isSlow: true,
  })),
  { name: 'crun', provides: '/usr/bin/crun', why: 'the container image of a release is started', isSlow: true },
  { name: 'skopeo', provides: '/usr/bin/skopeo', why: 'and read by an independent program', isSlow: true },
  ...(process.arch === 'x64'
    ? [
        {
          ...{ name: 'qemu-user-static', provides: '/usr/bin/qemu-aarch64-static', isSlow: true },
          why: 'the agent for arm64 is run',
        },
      ]
    : []),
  // The emulated machine runs the agent of this machine, and only x64 is booted.
  ...(process.arch === 'x64'
    ? [
        { name: 'qemu-system-x86', provides: '/usr/bin/qemu-system-x86_64', why: REAL_KERNEL, isSlow: true },
        { name: 'busybox-static', provides: '/bin/busybox', why: REAL_KERNEL, isSlow: true },
      ]
    : []),
]

const ENVIRONMENT = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }

/** Directory of the kernel that tests boot: `boot/`, `lib/modules/`, `bin/udevadm` and its libraries. */
const KERNEL = join(ROOT, 'build', 'kernel')
/** File that lists the unpacked parts. If the list changed, the kernel is unpacked again. */
const CONTENTS = join(KERNEL, 'contents')
/**
 * The parts of the 400 MB kernel that tests need: gadgets, the USB host side and its drivers, input, disks, network,
 * sound and a console.
 */
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
  // Separately, because one package that this Debian lacks would fail the whole installation.
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
    console.log(`not installed: needs root on Debian (apt-get install ${names.join(' ')}); ${otherwise}`)
    return
  }
  console.log(`installing ${names.join(' ')} with apt-get`)
  // Update first: package lists are usually missing or old in a container. If it fails, the installation fails visibly.
  run('apt-get', 'update', '-q')
  const { ok, output } = run('apt-get', 'install', '-q', '-y', '--no-install-recommends', ...names)
  if (!ok) console.log(`not installed, ${otherwise}: ${output.trim().split('\n').at(-1)}`)
}

/** Unpacks the kernel package instead of installing it, because tests only boot it. This needs Debian but not root. */
function unpackKernel() {
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb')) {
    console.log(`no kernel to boot: needs Debian's packages (${REAL_KERNEL}); its tests are skipped`)
    return
  }
  console.log(`unpacking Debian's kernel into build/kernel (${REAL_KERNEL})`)
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  try {
    fetchKernel()
  } catch {
    // Package lists may be missing or older than the archive. Without root, this has no effect.
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
    // Replaced in one step, so that an interrupted run leaves no incomplete kernel.
    rmSync(KERNEL, { recursive: true, force: true })
    renameSync(draft, KERNEL)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Downloads a package and unpacks the given parts. */
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
