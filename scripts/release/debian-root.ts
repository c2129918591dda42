/** Debian systems in a folder, in which tests install packages. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ROOT } from '../bootstrap/say.mjs'

export type Suite = 'bookworm' | 'trixie'

/** Folder of systems that no test changed. They are used again until the folder is removed. */
const PRISTINE = join(ROOT, 'build', 'debian')

/** Returns why this machine cannot run a Debian system in a folder, or null. */
export const whyNoDebianRoot = (): string | null => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the packages are installed on Linux x64'
  if (process.getuid?.() !== 0) return 'only root can install a Debian system in a folder'
  const missing = ['/usr/sbin/debootstrap', '/usr/bin/unshare', '/usr/sbin/chroot', '/usr/sbin/ip'].filter(
    (path) => !existsSync(path),
  )
  if (missing.length > 0) return `${missing.join(', ')} is missing (apt-get install debootstrap util-linux iproute2)`
  if (archive() === undefined) return 'apt names no Debian archive (/etc/apt/sources.list.d)'
  const allowed = spawnSync('/usr/bin/unshare', ['--mount', '--pid', '--net', '--fork', 'true'])
  return allowed.status === 0 ? null : 'this machine does not allow new namespaces'
}

/** Packages of a system that can be booted. */
const SYSTEMD = ['systemd', 'systemd-sysv', 'udev', 'dbus', 'iproute2']

/** Returns the archive from which this machine installs its packages. */
const archive = (): string | undefined => {
  const asked = ['indextargets', '--format', '$(ORIGIN) $(REPO_URI)', 'Created-By: Packages']
  return /^Debian (\S+)/m.exec(spawnSync('apt-get', asked, { encoding: 'utf8' }).stdout ?? '')?.[1]
}

/**
 * Returns the folder of a system with these packages and creates it first if it is missing. `prepare` completes it before
 * anything uses it.
 */
export const pristineRoot = (
  name: string,
  suite: Suite,
  packages: readonly string[],
  prepare: (dir: string) => void = () => {},
): string => {
  const dir = join(PRISTINE, name)
  mkdirSync(PRISTINE, { recursive: true })
  const unlock = existsSync(dir) ? undefined : lockRoot(dir)
  if (unlock === undefined) return dir
  const draft = mkdtempSync(join(PRISTINE, `${suite}-draft-`))
  try {
    const include = packages.length > 0 ? [`--include=${packages.join(',')}`] : []
    const done = spawnSync('/usr/sbin/debootstrap', ['--variant=minbase', ...include, suite, draft, archive() ?? ''], {
      encoding: 'utf8',
    })
    if (done.status !== 0) throw new Error(`debootstrap failed:\n${done.stdout.slice(-1000)}${done.stderr}`)
    prepare(draft)
    renameSync(draft, dir)
  } finally {
    rmSync(draft, { recursive: true, force: true })
    unlock()
  }
  return dir
}

/** Several times as long as the creation of a system takes. */
const LOCK_LIMIT_MS = 15 * 60_000

/** Returns whether the process of a lock has ended. After a restart, its number can belong to another process. */
const isAbandoned = (lock: string): boolean => {
  try {
    const pid = readFileSync(lock, 'utf8')
    // An empty file is still being written.
    return Date.now() - statSync(lock).mtimeMs > LOCK_LIMIT_MS || (pid !== '' && !existsSync(`/proc/${pid}`))
  } catch {
    return false
  }
}

/**
 * Locks a system, so that only one test process creates it. Waits while another process creates it.
 *
 * @returns the function that releases the lock, or undefined if the system exists
 */
export const lockRoot = (dir: string): (() => void) | undefined => {
  const lock = `${dir}.lock`
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (; !existsSync(dir); Atomics.wait(pause, 0, 0, 500)) {
    try {
      writeFileSync(lock, `${process.pid}`, { flag: 'wx' })
      return () => rmSync(lock, { force: true })
    } catch {
      // A killed process leaves its lock file.
      if (isAbandoned(lock)) rmSync(lock, { force: true })
    }
  }
  return undefined
}

const pristine = (suite: Suite, hasSystemd: boolean): string =>
  hasSystemd ? pristineRoot(`${suite}-systemd`, suite, SYSTEMD) : pristineRoot(suite, suite, [])

/** Creates a Debian system that one test may change. Nothing runs in it, not even its systemd. */
export const createDebianRoot = (suite: Suite, { hasSystemd = false } = {}) => {
  const dir = mkdtempSync(join(tmpdir(), `portcullis-${suite}-`))
  const copied = spawnSync('cp', ['-a', '--reflink=auto', `${pristine(suite, hasSystemd)}/.`, dir], {
    encoding: 'utf8',
  })
  if (copied.status !== 0) throw new Error(copied.stderr)
  // Other users of the system must be able to enter the folder.
  chmodSync(dir, 0o755)
  // The system is thrown away, so dpkg does not need to wait for the disk.
  writeFileSync(join(dir, 'etc/dpkg/dpkg.cfg.d/unsafe'), 'force-unsafe-io\n')
  return {
    dir,
    /** Makes a file of this machine available in `/packages/` of the system. */
    add(file: string): string {
      mkdirSync(join(dir, 'packages'), { recursive: true })
      const copy = join(dir, 'packages', basename(file))
      // A link, because the packages of servers have 370 MB.
      if (!existsSync(copy)) linkSync(file, copy)
      return `/packages/${basename(file)}`
    },
    /**
     * Runs a shell script as root of the system: with its own processes, which end with the script, and its own network
     * with loopback only.
     */
    run(script: string, { timeoutMs = 280_000 } = {}) {
      writeFileSync(join(dir, 'script.sh'), `set -eu\n${script}`)
      const begin = `ip link set lo up; mount -t tmpfs -o mode=1777 shm '${dir}/dev/shm'; exec chroot '${dir}' /bin/sh /script.sh`
      const done = spawnSync(
        '/usr/bin/unshare',
        ['--mount', '--pid', '--net', '--fork', '--kill-child', `--mount-proc=${dir}/proc`, 'sh', '-c', begin],
        {
          encoding: 'utf8',
          timeout: timeoutMs,
          maxBuffer: 64 * 1024 * 1024,
          env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
        },
      )
      rmSync(join(dir, 'script.sh'))
      return { status: done.status, out: done.stdout, all: `${done.stdout}${done.stderr}` }
    },
    /** Returns all paths of the system except those that package managers change themselves. */
    paths(): string[] {
      const { stdout } = spawnSync('find', ['.', '-xdev', '-mindepth', '1', '-printf', '/%P\\n'], {
        cwd: dir,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      })
      return stdout
        .split('\n')
        .filter(
          (path) => !/^$|^\/packages|^\/root\/\.rpmdb|^\/var\/(lib\/(dpkg|rpm)|log|cache)\/|^\/etc\/\w+-$/.test(path),
        )
        .toSorted()
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
export type DebianRoot = ReturnType<typeof createDebianRoot>
