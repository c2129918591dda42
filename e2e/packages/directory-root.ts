/** Real directories in a Debian system of their own: Samba as a domain controller, 389 Directory Server and OpenLDAP. */
import { spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { until } from '../../proof/kit/harness.ts'
import { pristineRoot } from '../../scripts/release/debian-root.ts'

const PACKAGES = [
  ...['samba', 'samba-ad-provision', 'samba-dsdb-modules', 'samba-vfs-modules'],
  ...['389-ds-base', 'slapd', 'iproute2', 'faketime'],
]

export const sambaPassword = 'Domain.admin.1'
export const managerPassword = 'directory-manager'
/** A person of the domain whose password has expired. */
export const stale = { name: 'stale', password: 'Correct.horse.1' }

/** Creates a domain and an instance. Each takes ten seconds or more, so the system keeps them. */
const PREPARE = `set -eu
ip link set lo up
rm -f /etc/samba/smb.conf
samba-tool domain provision --realm=AD.EXAMPLE --domain=EXAMPLE --adminpass='${sambaPassword}' --server-role=dc \\
  --dns-backend=NONE --host-name=dc1 --host-ip=127.0.0.1 --option='posix:eadb=/var/lib/samba/eadb.tdb' \\
  --option='interfaces=ADDRESS/8' --option='bind interfaces only=yes' --option='server services=ldap'
samba-tool domain passwordsettings set --account-lockout-threshold=3
# Passwords expire after 42 days, and nobody can set the date of a password.
faketime -f -60d samba-tool user create ${stale.name} '${stale.password}'
sed -i 's,with_systemd = 1,with_systemd = 0,' /usr/share/dirsrv/inf/defaults.inf
cat >/ds.inf <<'INF'
[general]
config_version = 2
full_machine_name = localhost
strict_host_checking = False
systemd = False
start = False
[slapd]
instance_name = people
port = 3890
secure_port = 0
root_password = ${managerPassword}
self_sign_cert = False
[backend-userroot]
suffix = dc=example,dc=org
create_suffix_entry = True
INF
dscreate from-file /ds.inf
`

const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', HOME: '/root' }

const prepare = (dir: string): void => {
  // The directories run as users of their own, who must be able to enter the folder.
  chmodSync(dir, 0o755)
  writeFileSync(join(dir, 'prepare.sh'), PREPARE)
  const begin = `mount -t tmpfs -o mode=1777 shm '${dir}/dev/shm'; exec chroot '${dir}' /bin/sh /prepare.sh`
  const done = spawnSync(
    '/usr/bin/unshare',
    ['--mount', '--pid', '--net', '--fork', '--kill-child', `--mount-proc=${dir}/proc`, 'sh', '-c', begin],
    { encoding: 'utf8', env: environment, timeout: 300_000 },
  )
  if (done.status !== 0) throw new Error(`no directories:\n${done.stdout.slice(-1000)}${done.stderr.slice(-2000)}`)
}

const answers = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port })
      .on('connect', () => {
        socket.destroy()
        resolve(true)
      })
      .on('error', () => resolve(false))
  })

/** Files of one directory by path, with their mode. They replace those of the system. */
type Files = Record<string, { text: string; mode?: number }>

/** Returns a file of the system, changed. */
const changed = (path: string, change: (text: string) => string): Files => ({
  [path]: { text: change(readFileSync(join(root(), path), 'utf8')) },
})

const root = (): string => pristineRoot('bookworm-directories', 'bookworm', PACKAGES, prepare)

/** Starts a daemon in a copy of the system, with its own processes, and waits until its port answers. */
const startDaemon = async (command: string, files: Files, host: string, port: number) => {
  const pristine = root()
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-directory-'))
  for (const name of ['upper', 'work', 'root']) mkdirSync(join(dir, name))
  for (const [path, { text, mode = 0o644 }] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, 'upper', path)), { recursive: true })
    writeFileSync(join(dir, 'upper', path), text, { mode })
  }
  // The shell stays, because a process that changes its user would survive the end of its parent.
  const begin = `mount -t overlay overlay -o lowerdir='${pristine}',upperdir='${dir}/upper',workdir='${dir}/work' '${dir}/root'
mount -t proc proc '${dir}/root/proc'; mount -t tmpfs -o mode=1777 shm '${dir}/root/dev/shm'
chroot '${dir}/root' /bin/sh -c '${command}'; exit`
  const child = spawn('/usr/bin/unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc', begin], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    rmSync(dir, { recursive: true, force: true })
  }
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  void ended.then(() => process.removeListener('exit', kill))
  await until(
    `${command} answers`,
    () => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${command} ended:\n${output.slice(-2000)}`)
      return answers(host, port)
    },
    120_000,
  ).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return { host, port, stop }
}

/** Returns an address of this machine that nothing else uses, because Samba can only listen on the usual ports. */
const ownAddress = (): string => `127.${randomInt(64, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`

/** Starts Samba as a domain controller with this certificate, for an address that `certificateOf` gets. */
export const startSamba = async (
  certificateOf: (address: string) => Promise<{ cert: string; key: string }>,
  ca: string,
) => {
  const address = ownAddress()
  const { cert, key } = await certificateOf(address)
  const tls = 'var/lib/samba/private/tls'
  return startDaemon(
    'exec samba -i -M single --debug-stdout',
    {
      ...changed('etc/samba/smb.conf', (text) => text.replace('ADDRESS', address)),
      [`${tls}/key.pem`]: { text: key, mode: 0o600 },
      [`${tls}/cert.pem`]: { text: cert },
      [`${tls}/ca.pem`]: { text: ca },
    },
    address,
    636,
  )
}

/** Starts 389 Directory Server without TLS. */
export const start389 = () => {
  const address = ownAddress()
  const instance = 'etc/dirsrv/slapd-people'
  return startDaemon(
    'mkdir -p /run/dirsrv /run/lock/dirsrv/slapd-people && exec ns-slapd -D /etc/dirsrv/slapd-people -i /run/dirsrv/people.pid -d 0',
    changed(`${instance}/dse.ldif`, (text) =>
      text.replace('nsslapd-port: 3890', `nsslapd-port: 3890\nnsslapd-listenhost: ${address}`),
    ),
    address,
    3890,
  )
}

/** Starts OpenLDAP with memberOf. It accepts passwords only over TLS. */
export const startOpenLdap = async (
  certificateOf: (address: string) => Promise<{ cert: string; key: string }>,
  ca: string,
) => {
  const address = ownAddress()
  const { cert, key } = await certificateOf(address)
  const conf = `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
TLSCACertificateFile /directory/ca.pem
TLSCertificateFile /directory/cert.pem
TLSCertificateKeyFile /directory/key.pem
security simple_bind=128
database mdb
suffix "dc=example,dc=org"
rootdn "cn=manager,dc=example,dc=org"
rootpw "${managerPassword}"
directory /directory/data
overlay memberof
access to attrs=userPassword by anonymous auth by * none
access to * by users read by anonymous auth by * none
`
  return startDaemon(
    `exec slapd -d 0 -h "ldap://${address}:3891 ldaps://${address}:6361" -f /directory/slapd.conf`,
    {
      'directory/slapd.conf': { text: conf },
      'directory/ca.pem': { text: ca },
      'directory/cert.pem': { text: cert },
      'directory/key.pem': { text: key, mode: 0o600 },
      'directory/data/DB_CONFIG': { text: '' },
    },
    address,
    3891,
  )
}
