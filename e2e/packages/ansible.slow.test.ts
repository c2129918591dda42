import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminPassword, type RunningServer, remove, startServer, temporaryDir } from '../../proof/kit/harness.ts'

const role = fileURLToPath(new URL('../../ops/ansible', import.meta.url))
const whyNot = !existsSync('/usr/bin/ansible-playbook')
  ? 'ansible-core is not installed'
  : process.getuid?.() !== 0
    ? 'a chroot needs root'
    : null

/** Runs a command in a chroot that shows this machine. What it writes stays in `dir`. */
const inChroot = (dir: string, command: string) =>
  spawnSync(
    'unshare',
    [
      '-m',
      'sh',
      '-euc',
      `mount -t tmpfs none "$0/layer"; mkdir -p "$0/layer/upper" "$0/layer/work"
if [ -e "$0/kept.tar" ]; then tar -xf "$0/kept.tar" -C "$0/layer/upper"; fi
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/layer/upper,workdir=$0/layer/work" "$0/root"
mount -t proc proc "$0/root/proc"; mount --rbind /dev "$0/root/dev"
mount -t tmpfs none "$0/root/run"; mount --bind ${role} "$0/root/mnt"
mkdir "$0/root/run/vars"; cp "$0/vars.json" "$0/root/run/vars/"
code=0; chroot "$0/root" sh -c "$1" || code=$?
tar -cf "$0/kept.tar" -C "$0/layer/upper" .; exit $code`,
      dir,
      command,
    ],
    { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LANG: 'C.UTF-8' } },
  )

const play = (more: string) =>
  `cd /mnt && ansible-playbook -i localhost, -c local -e @/run/vars/vars.json ${more} site.yml`

describe('the Ansible role', unless(whyNot), () => {
  let server: RunningServer
  const dirs: string[] = []
  const trusted = getCACertificates('default')

  beforeAll(async () => {
    const dataDir = temporaryDir()
    dirs.push(dataDir)
    server = await startServer(dataDir, { PORTCULLIS_ADMIN_PASSWORD: adminPassword, PORTCULLIS_HOST: '0.0.0.0' })
    setDefaultCACertificates([...trusted, readFileSync(join(dataDir, 'tls', 'ca.crt'), 'utf8')])
  })
  afterAll(async () => {
    setDefaultCACertificates(trusted)
    await server?.stop()
    for (const dir of dirs) remove(dir)
  })

  it('enrols a host in a chroot by a token with a list, changes nothing when it runs again, and keeps the token nowhere', async () => {
    const dir = temporaryDir()
    dirs.push(dir)
    for (const name of ['layer', 'root']) mkdirSync(join(dir, name))
    const { token } = await server.post<{ token: string }>('agents/enrollmenttokens', {
      name: 'Building 7',
      hashtags: ['building-7'],
      hostIdentifiers: [hostname(), 'missing-host'],
    })
    const script = await server.request('/agent/v1/install.sh')
    const vars = {
      portcullis_server: server.url,
      portcullis_token: token,
      portcullis_install_sha256: createHash('sha256').update(script.text).digest('hex'),
      portcullis_proxy: 'none',
      portcullis_no_proxy: ['.example.org', '10.0.0.0/8'],
    }
    writeFileSync(join(dir, 'vars.json'), JSON.stringify(vars), { mode: 0o600 })
    const checked = inChroot(dir, play('--syntax-check'))
    expect([checked.status, checked.stderr]).toEqual([0, ''])

    // Three levels show the arguments and the input of each module, which the host's journal contains too.
    const first = inChroot(dir, play('-vvv'))
    expect(first.status, first.stdout + first.stderr).toBe(0)
    const [host] = await server.agents()
    expect([host?.hostIdentifier, host?.hashtags]).toEqual([hostname(), 'building-7'])
    const { data } = await server.get<{ data: { list: unknown }[] }>('agents/enrollmenttokens')
    expect(data[0]?.list).toEqual({ total: 2, missing: 1, missingNames: ['missing-host'] })

    const again = inChroot(dir, play(''))
    expect(again.stdout).toMatch(/changed=0 .*failed=0/)
    const kept = inChroot(
      dir,
      `cat /etc/portcullis-agent/agent.env; stat -c %a /etc/portcullis-agent/agent.env; ls /usr/local/lib/portcullis`,
    ).stdout
    expect(kept).toBe(
      'PORTCULLIS_AGENT_PROXY=none\nPORTCULLIS_AGENT_NO_PROXY=.example.org,10.0.0.0/8\n600\nportcullis-agent\n',
    )
    expect(first.stdout + first.stderr + again.stdout).not.toContain(token)
    expect(readFileSync(join(dir, 'kept.tar'), 'latin1')).not.toContain(token)
    expect(await server.agents()).toHaveLength(1)
  })

  it('installs nothing with another digest or without a token', async () => {
    const dir = temporaryDir()
    dirs.push(dir)
    for (const name of ['layer', 'root']) mkdirSync(join(dir, name))
    const run = (vars: Record<string, string>) => {
      writeFileSync(join(dir, 'vars.json'), JSON.stringify({ portcullis_server: server.url, ...vars }))
      const ran = inChroot(
        dir,
        `${play('')}; ls /usr/local/lib/portcullis /tmp/portcullis.* 2>&1 | grep -c '^portcullis-agent$'`,
      )
      return ran.stdout
    }
    const before = (await server.agents()).length
    const other = run({ portcullis_token: 'pce_1_x', portcullis_install_sha256: 'a'.repeat(64) })
    expect(other).toContain('failed=1')
    expect(other.trim().split('\n').at(-1)).toBe('0')
    expect(run({ portcullis_install_sha256: 'a'.repeat(64) })).toContain('failed=1')
    expect(run({ portcullis_server: 'portcullis.example.org' })).toContain('failed=1')
    const script = await server.request('/agent/v1/install.sh')
    const portcullis_install_sha256 = createHash('sha256').update(script.text).digest('hex')
    const issued = await server.post<{ token: string }>('agents/enrollmenttokens', { name: 'mistyped' })
    const token = issued.token.replace(/_[\w-]{43}\./, `_${'x'.repeat(43)}.`)
    const unknown = run({ portcullis_token: token, portcullis_install_sha256, portcullis_proxy: 'none' })
    expect(unknown).toContain('This server did not issue the enrolment token.')
    expect(unknown).not.toContain(token)
    expect(await server.agents()).toHaveLength(before)
  })
})
