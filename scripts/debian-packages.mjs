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
  {
    name: 'firefox-esr',
    provides: '/usr/bin/firefox-esr',
    why: 'tests do the main jobs in Firefox',
    isSlow: true,
  },
  {
    name: 'webkit2gtk-driver',
    provides: '/usr/bin/WebKitWebDriver',
    why: 'tests do the main jobs in WebKitGTK',
    isSlow: true,
  },
  { name: 'xvfb', provides: '/usr/bin/Xvfb', why: 'WebKitGTK needs a display', isSlow: true },
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
 * Releases of Debian with the oldest, the current and the newest kernel that hosts have. Tests load the drivers of these
 * kernels (`e2e/kernel/driver-names.ts`).
 */
export const KERNEL_RELEASES = ['bookworm', 'trixie', 'trixie-backports']
/** Directory of the kernel of a release: `boot/` and all modules that a driver for USB or HID devices may need. */
export const driversDir = (release) => join(ROOT, 'build', 'kernel-drivers', release)
/** Parts without drivers for USB or HID devices. They are most of 500 MB. */
const NO_DRIVERS = [
  ...['fs', 'drivers/infiniband', 'drivers/block', 'drivers/md', 'drivers/ata'],
  ...['drivers/net/ethernet', 'drivers/target', 'drivers/nvme', 'drivers/power', 'drivers/crypto', 'drivers/edac'],
  ...['amd', 'i915', 'nouveau', 'radeon', 'xe', 'vmwgfx'].map((driver) => `drivers/gpu/drm/${driver}`),
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
  if (!isSlow || process.arch !== 'x64') return
  if (!isUnpacked()) unpackKernel()
  for (const release of KERNEL_RELEASES) if (!existsSync(driversDir(release))) unpackDrivers(release)
}

/** Unpacks the kernel of another release from the archive that this machine uses. This needs Debian but not root. */
function unpackDrivers(release) {
  console.log(`unpacking the drivers of Debian's kernel in ${release} into build/kernel-drivers`)
  mkdirSync(join(ROOT, 'build', 'kernel-drivers'), { recursive: true })
  const draft = mkdtempSync(join(ROOT, 'build', 'kernel-drivers', 'draft-'))
  try {
    const lists = run(
      'apt-get',
      'indextargets',
      '--format',
      '$(ORIGIN) $(COMPONENT) $(REPO_URI)',
      'Created-By: Packages',
    )
    const archive = lists.output.match(/^Debian main (\S+)/m)?.[1]
    if (archive === undefined) throw new Error('this machine has no package list of Debian')
    // An own directory for lists, so that the packages of this machine do not change.
    mkdirSync(join(draft, 'apt', 'lists', 'partial'), { recursive: true })
    writeFileSync(join(draft, 'apt', 'sources.list'), `deb ${archive} ${release} main\n`)
    const apt = [
      ...['-o', `Dir::Etc::SourceList=${join(draft, 'apt', 'sources.list')}`, '-o', 'Dir::Etc::SourceParts=-'],
      ...['-o', `Dir::State::Lists=${join(draft, 'apt', 'lists')}`, '-o', `Dir::Cache=${join(draft, 'apt')}`],
    ]
    const updated = run('apt-get', ...apt, 'update', '-q')
    if (!updated.ok) throw new Error(updated.output.trim().split('\n').at(-1))
    const dependsOf = (name) => run('apt-cache', ...apt, 'depends', name).output
    const image = dependsOf('linux-image-amd64').match(/linux-image-[0-9]\S*/)?.[0]
    if (image === undefined) throw new Error('no package list names linux-image-amd64')
    // Newer kernels have packages for the image and for the modules.
    const parts = dependsOf(image).match(/linux-(binary|modules)-[0-9]\S*/g) ?? []
    for (const name of [...new Set([image, ...parts])]) unpack(draft, name, ['--exclude=./usr/share', '.'], apt)
    const folders = ['lib', 'usr/lib'].map((lib) => join(draft, lib, 'modules'))
    const folder = folders.find((path) => existsSync(path)) ?? ''
    const modules = join(folder, readdirSync(folder)[0], 'kernel')
    for (const dir of NO_DRIVERS) rmSync(join(modules, dir), { recursive: true, force: true })
    const unzip = 'find "$1" -name "*.ko.xz" -print0 | xargs -0 -r -n 100 -P 2 xz -d'
    if (!run('sh', '-c', unzip, 'sh', modules).ok) throw new Error('the modules cannot be decompressed (xz)')
    if (!existsSync(join(draft, 'boot'))) {
      mkdirSync(join(draft, 'boot'))
      renameSync(join(modules, '..', 'vmlinuz'), join(draft, 'boot', 'vmlinuz'))
    }
    rmSync(join(draft, 'apt'), { recursive: true })
    renameSync(draft, driversDir(release))
  } catch (error) {
    console.log(`no kernel of ${release}, the test of its drivers is skipped: ${error.message}`)
    rmSync(draft, { recursive: true, force: true })
  }
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
function unpack(into, name, parts, apt = []) {
  const download = mkdtempSync(join(into, 'package-'))
  const got = run('sh', '-c', 'cd "$1" && shift && apt-get "$@"', 'sh', download, ...apt, 'download', '-q', name)
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
