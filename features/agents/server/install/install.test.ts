import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { installCommand, installScript, quoteShellWord } from './script.ts'
import { agentUnit, packagePaths, quoteUnitWord } from './unit.ts'

const sha256 = { 'linux-x64': 'a'.repeat(64) }
const hostile = `https://h.example/$(touch$IFS/tmp/x)'"\`id\`%n$HOME\\`

const sh = (script: string, args: string[] = [], env: Record<string, string> = {}) =>
  spawnSync('sh', ['-s', '--', ...args], {
    input: script,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', ...env },
  })

describe('install script', () => {
  it('is valid POSIX shell, also for an address full of shell characters', () => {
    for (const serverUrl of ['https://p.example:8443', hostile]) {
      const checked = spawnSync('sh', ['-n'], {
        input: installScript({ serverUrl, sha256, caPin: 'x' }),
        encoding: 'utf8',
      })
      expect([checked.status, checked.stderr]).toEqual([0, ''])
    }
  })

  it('passes shellcheck', (context) => {
    const found = spawnSync('shellcheck', ['--version'])
    if (found.error) return context.skip('shellcheck is not installed')
    const checked = spawnSync('shellcheck', ['-s', 'sh', '-'], {
      input: installScript({ serverUrl: 'https://p.example', sha256 }),
      encoding: 'utf8',
    })
    expect(checked.stdout).toBe('')
  })

  it('quotes every word literally', () => {
    for (const word of [hostile, "'", "''\n$(id)", '-n', '']) {
      expect(sh(`printf %s ${quoteShellWord(word)}`).stdout).toBe(word)
    }
    const lines = installScript({ serverUrl: hostile, sha256 }).split('\n')
    const assignment = lines.find((line) => line.startsWith('SERVER=')) ?? ''
    expect(sh(`${assignment}\nprintf %s "$SERVER"`).stdout).toBe(hostile)
  })

  it('refuses unsafe addresses and digests', () => {
    expect(() => installScript({ serverUrl: 'https://p.example/\nid', sha256 })).toThrow(RangeError)
    expect(() => installScript({ serverUrl: 'ftp://p.example', sha256 })).toThrow(RangeError)
    expect(() => installScript({ serverUrl: 'https://p.example', sha256: { 'linux-x64': '$(id)' } })).toThrow(
      RangeError,
    )
    expect(() => quoteUnitWord('a\nExecStart=/bin/sh')).toThrow(RangeError)
  })

  it('frees the host before it removes the agent', () => {
    const script = installScript({ serverUrl: 'https://p.example', sha256 })
    const removal = /^uninstall\(\) \{\n([\s\S]*?)^\}/m.exec(script)?.[1] ?? ''
    const ran = sh(
      `d=$(mktemp -d); EXECUTABLE=$d/lib/agent; LINK=$d/link; DIRECTORY=$d/lib; UNIT=$d/unit; UNIT_NAME=x; STATE_DIR=$d/state
RULE=$d/rule; WAITER=$d/lib/wait; reload_udev() { :; }; touch "$RULE" "$d/unit"
has_systemd() { return 1; }; mkdir "$d/lib" "$STATE_DIR"; touch "$WAITER"; ln -s "$EXECUTABLE" "$LINK"; echo >"$EXECUTABLE.previous"
printf '#!/bin/sh\necho "$1 $(test -d "$3" && echo before)"\n' >"$EXECUTABLE"; chmod +x "$EXECUTABLE"
${removal}
ls "$d"; rm -r "$d"`,
    )
    expect(ran.stdout).toMatch(/^release before\nThe Portcullis agent was removed\..*\n$/)
  })

  it('does not remove the state of an agent that its package installed', () => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-install-'))
    const launcher = join(dir, 'launcher')
    writeFileSync(launcher, '')
    const script = installScript({ serverUrl: 'https://p.example', sha256 })
      .replaceAll(packagePaths.launcher, launcher)
      .replace(/^ +uninstall$/m, 'echo removed')
    const ran = sh(`id() { echo 0; }\n${script}`, ['--uninstall'])
    rmSync(dir, { recursive: true })
    expect(ran.stderr).toContain('apt purge portcullis-agent or dnf remove portcullis-agent')
    expect([ran.status, ran.stdout]).toEqual([1, ''])
  })

  it('installs the udev rule after its script, on hosts with udev only', () => {
    const script = installScript({ serverUrl: 'https://p.example', sha256 })
    const from = script.indexOf('cat >"$WORK/waiter"')
    const part = script.slice(from, script.indexOf('if has_systemd; then', from))
    const ran = sh(
      `set -eu; d=$(mktemp -d); WORK=$d/work; WAITER=$d/wait; RULE=$d/rules.d/rule; reload_udev() { echo reloaded; }
mkdir "$WORK"
${part}
ls "$d"
mkdir "$d/rules.d"
${part}
sh -n "$WAITER" && stat -c %A "$WAITER" "$RULE" | cut -c 1-10; grep -c /usr/local/lib/portcullis/udev-wait "$RULE"; rm -r "$d"`,
    )
    expect([ran.stdout, ran.stderr]).toEqual(['work\nreloaded\n-rwxr-xr-x\n-rw-r--r--\n1\n', ''])
  })

  it('explains how to start the agent on a host without systemd', () => {
    const script = installScript({ serverUrl: 'https://p.example', sha256 })
    const end = script.slice(script.lastIndexOf('if has_systemd; then'))
    const ran = sh(
      `has_systemd() { return 1; }; EXECUTABLE=/opt/agent; SERVER=https://p.example; STATE_DIR=/state\n${end}`,
    )
    expect(ran.stdout).toContain('the agent is not running')
    expect(ran.stdout).toMatch(
      /run this command as root.*\n {2}\/opt\/agent --server https:\/\/p\.example --state-dir \/state\n$/,
    )
  })

  it('stops with an explanation without root, without a token and with an invalid token', () => {
    const script = installScript({ serverUrl: 'https://p.example', sha256 })
    const run = (uid: number, input: string, args: string[] = []) =>
      spawnSync('sh', ['-c', `id() { echo ${uid}; }\n${script}`, 'install.sh', ...args], { input, encoding: 'utf8' })
    expect(run(1000, 'pce_1_x\n').stderr).toContain('root is required')
    expect(run(0, '').stderr).toContain('not an enrolment token')
    expect(run(0, 'nonsense\n').stderr).toContain('not an enrolment token')
    expect(run(0, 'nonsense\n').status).toBe(1)
    expect(run(0, '', ['--nothing']).stderr).toContain('Valid options')
    expect(run(0, '', ['--token-file', '/nowhere']).stderr).toContain('does not exist')
    expect(run(0, '', ['--token-file', '/etc/passwd']).stderr).toContain('other users can read /etc/passwd')
  })

  it('downloads the executable for the processor of the host, and refuses others', () => {
    const of = { 'linux-x64': 'a'.repeat(64), 'linux-arm64': 'b'.repeat(64) }
    const ran = (machine: string, sha256: Parameters<typeof installScript>[0]['sha256']) => {
      const script = installScript({ serverUrl: 'https://p.example', sha256 })
      const end = script.indexOf('read_token() {')
      return sh(`id() { echo 0; }
uname() { [ "$1" = -s ] && echo Linux || echo ${machine}; }
curl() { for word; do :; done; echo "$word $SHA256"; }
${script.slice(0, end)}
WORK=$(mktemp -d); download; rm -r "$WORK"`)
    }
    const url = 'https://p.example/agent/v1/download'
    for (const machine of ['x86_64', 'amd64'])
      expect(ran(machine, of).stdout).toBe(`${url}/linux-x64 ${of['linux-x64']}\n`)
    for (const machine of ['aarch64', 'arm64'])
      expect(ran(machine, of).stdout).toBe(`${url}/linux-arm64 ${of['linux-arm64']}\n`)
    for (const [machine, sha256] of [
      ['riscv64', of],
      ['aarch64', { 'linux-x64': of['linux-x64'] }],
    ] as const)
      expect([ran(machine, sha256).status, ran(machine, sha256).stderr]).toEqual([
        1,
        expect.stringContaining(`no agent is available for ${machine}`),
      ])
    expect(() => installScript({ serverUrl: 'https://p.example', sha256: {} })).toThrow(RangeError)
  })

  it('leaves nothing that other users can change, whatever the umask of its caller', () => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-install-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const agent = '#!/bin/sh\nexit 0\n'
    const programs = {
      curl: `for word; do [ "$last" = -o ] && to=$word; last=$word; done; cat ${dir}/agent >"$to"`,
      id: 'echo 0',
      udevadm: '',
    }
    mkdirSync(join(dir, 'etc/udev/rules.d'), { recursive: true })
    mkdirSync(join(dir, 'bin'))
    writeFileSync(join(dir, 'agent'), agent)
    for (const [name, text] of Object.entries(programs))
      writeFileSync(join(dir, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    const digest = createHash('sha256').update(agent).digest('hex')
    const script = installScript({ serverUrl: 'https://p.example', sha256: { 'linux-x64': digest } })
      .replaceAll(/\/(?:usr\/local|etc|var\/lib)\//g, (path) => `${dir}${path}`)
      .replace('[ -d /run/systemd/system ]', 'false')
    writeFileSync(join(dir, 'install.sh'), script)
    const ran = spawnSync('sh', ['-c', `umask 0; exec sh ${dir}/install.sh`], {
      input: 'pce_token\n',
      encoding: 'utf8',
      env: { PATH: `${dir}/bin:${process.env.PATH}`, https_proxy: 'http://user:password@proxy.example:3128' },
    })
    expect([ran.status, ran.stderr]).toEqual([0, ''])
    const find = (...test: string[]) =>
      spawnSync('find', [join(dir, 'usr'), join(dir, 'etc'), '!', '-type', 'l', ...test], { encoding: 'utf8' }).stdout
    for (const name of ['portcullis-agent', 'udev-wait', '00-portcullis.rules', 'agent.env', 'proxy-credentials'])
      expect(find('-name', name), name).not.toBe('')
    expect(find('-perm', '/022')).toBe('')
  })

  it('refuses a token as an argument, and explains that it was visible', () => {
    const script = installScript({ serverUrl: 'https://p.example', sha256 })
    const ran = sh(`id() { echo 0; }\n${script}`, ['pce_1_x'])
    expect([ran.status, ran.stderr]).toEqual([1, expect.stringContaining('Revoke this token')])
  })
})

describe('the proxy of a host', () => {
  const script = installScript({ serverUrl: 'https://p.example', sha256 })
  const functions = script.slice(script.indexOf('# Doubles backslashes'), script.indexOf('[ "$(id -u)" = 0 ]'))
  /** Runs the functions twice, as two installations, and prints the files for agent, curl and wget. */
  const keep = (settings: string, env: Record<string, string> = {}) => {
    const ran = sh(
      `set -eu; umask 077; d=$(mktemp -d); WORK=$d/work; SETTINGS_DIR=$d/etc; SERVER=https://p.example; OWN_CA=1; mkdir "$WORK"
fail() { echo "failed: $*"; rm -r "$d"; exit 1; }; find() { :; }; curl() { :; }
${functions}
PLATFORM=linux-x64 PROXY= PROXY_LOGIN= NO_PROXY_LIST= CREDENTIALS_FILE=
printf '%s' 'file:"p\\w' >"$d/login"
${settings}; choose_proxy; download; keep_proxy
unset https_proxy no_proxy; PLATFORM=linux-x64 PROXY= PROXY_LOGIN= NO_PROXY_LIST= CREDENTIALS_FILE=
choose_proxy; download; keep_proxy
cd "$d"; for f in etc/agent.env etc/proxy-credentials work/curlrc work/wgetrc; do [ -f $f ] && sed "s#$d##" $f; done; rm -r "$d"`,
      [],
      env,
    )
    return ran.stdout + ran.stderr
  }

  it('is kept for the agent and the next installation, its credentials in a file', () => {
    const shown = keep(
      'PROXY=http://proxy.example.org:3128/ NO_PROXY_LIST="a.example, 10.0.0.0/8" CREDENTIALS_FILE=$d/login',
    )
    expect(shown).toBe(`PORTCULLIS_AGENT_PROXY=http://proxy.example.org:3128
PORTCULLIS_AGENT_NO_PROXY=a.example,10.0.0.0/8
PORTCULLIS_AGENT_PROXY_CREDENTIALS_FILE=/etc/proxy-credentials
file:"p\\w
proxy = "http://proxy.example.org:3128"
noproxy = "a.example,10.0.0.0/8"
proxy-user = "file:\\"p\\\\w"
use_proxy = on
https_proxy = http://proxy.example.org:3128
http_proxy = http://proxy.example.org:3128
no_proxy = a.example,10.0.0.0/8
proxy_user = file
proxy_password = "p\\w
`)
  })

  it('comes from the environment unless an option says otherwise', () => {
    const env = { https_proxy: 'http://svc:se%63@p.example:8080', no_proxy: 'localhost' }
    expect(keep(':', env)).toMatch(/^failed: the password of the proxy contains %/)
    const plain = keep(':', { ...env, https_proxy: 'http://svc:s@c@p.example:8080' })
    expect(plain).toContain('PORTCULLIS_AGENT_PROXY=http://p.example:8080\nPORTCULLIS_AGENT_NO_PROXY=localhost\n')
    expect(plain).toContain('\nsvc:s@c\n')
    expect(keep('PROXY=none', env)).toMatch(/^PORTCULLIS_AGENT_PROXY=none\n/)
    expect(keep(':')).toBe('')
  })

  it.each(['http://p.example:1/$(id)', 'socks5://p.example', 'http://u:p@p.example'])('refuses %s', (address) =>
    expect(keep(`PROXY='${address}'`)).toMatch(/^failed: the address of the proxy/),
  )
})

describe('unit', () => {
  it('escapes what systemd would expand', () => {
    expect(quoteUnitWord('a%b$c"d\\')).toBe('"a%%b$$c\\"d\\\\"')
  })

  it('restores the defaults however the agent ends, with the previous version during an update', () => {
    const line = agentUnit({ serverUrl: 'https://p.example' })
      .split('\n')
      .find((found) => found.startsWith('ExecStopPost='))
    // Unescapes the line as systemd does: doubled dollars are single ones, and the script is one word.
    const script = /^ExecStopPost=-\/bin\/sh -c '(.*)'$/.exec(line ?? '')?.[1]?.replaceAll('$$', '$') ?? ''
    const run = (previous: boolean) =>
      sh(
        `d=$(mktemp -d); for f in agent ${previous ? 'agent.previous' : ''}; do
printf '#!/bin/sh\necho "\${0##*/} $*"\n' >"$d/$f"; chmod +x "$d/$f"; done
(${script.replace(/e=[^;]*;/, 'e="$d/agent";')}); rm -r "$d"`,
      ).stdout
    expect(run(false)).toBe('agent restore --state-dir /var/lib/portcullis-agent\n')
    expect(run(true)).toBe('agent.previous restore --state-dir /var/lib/portcullis-agent\n')
  })

  it('is hardened and does not restart a revoked agent', () => {
    const lines = agentUnit({ serverUrl: 'https://p.example' }).split('\n')
    for (const line of [
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'RestartPreventExitStatus=3',
      'StateDirectory=portcullis-agent',
    ])
      expect(lines).toContain(line)
  })
})

describe('install command', () => {
  it('runs a script only if its digest matches, with sudo if installed', () => {
    const script = 'read -r token; echo "ran with $token and $# arguments"\n'
    const digest = createHash('sha256').update(script).digest('hex')
    // Fakes on a separate PATH: curl writes the script, and the optional sudo prints a line.
    const run = (scriptSha256: string, token: string, { sudo = false } = {}) => {
      const command = installCommand({ serverUrl: 'https://p.example', scriptSha256, caPin: 'x' })
      const standIns = [
        `printf '#!/bin/sh\nprintf %%s "$SCRIPT" >"$3"\n' >"$dir/curl"`,
        `for t in sh rm mktemp sha256sum; do ln -s "$(command -v $t)" "$dir/$t"; done`,
        ...(sudo ? [`printf '#!/bin/sh\necho by sudo\nexec "$@"\n' >"$dir/sudo"`] : []),
        'rm=$(command -v rm); chmod +x "$dir"/*; PATH="$dir"',
      ]
      const lines = [
        'dir=$(mktemp -d)',
        ...standIns,
        `printf '%s\\n' "$TOKEN" | ${command}`,
        'echo "exit $?"',
        '"$rm" -r "$dir"',
      ]
      return sh(lines.join('\n'), [], { SCRIPT: script, TOKEN: token })
    }
    expect(run(digest, "pce_1_a'b").stdout).toBe("ran with pce_1_a'b and 0 arguments\nexit 0\n")
    expect(run(digest, 'pce_1_x', { sudo: true }).stdout).toBe('by sudo\nran with pce_1_x and 0 arguments\nexit 0\n')
    const refused = run('0'.repeat(64), 'pce_1_x', { sudo: true })
    expect(refused.stdout).not.toContain('ran')
    expect(refused.stdout).toContain('exit 1')
  })
})

/** Returns where a text appears in the arguments or the environment of any process of this machine. */
const isInProcesses = (text: string): string | undefined =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((pid) =>
      ['cmdline', 'environ'].some((file) => {
        try {
          return readFileSync(join('/proc', pid, file), 'latin1').includes(text)
        } catch {
          return false
        }
      }),
    )

describe('the copied command in a real shell', () => {
  it.each(['typed at its question', 'on standard input'])(
    'the token, %s, appears in no arguments, sudo log or history, and enrols the host',
    async (how) => {
      const token = `pce_${randomBytes(16).toString('hex')}_${randomBytes(32).toString('base64url')}`
      const dir = mkdtempSync(join(tmpdir(), 'portcullis-install-'))
      onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
      const bin = join(dir, 'bin')
      mkdirSync(bin)
      const put = (path: string, text: string) => writeFileSync(path, text, { mode: 0o755 })
      // A slow agent that records its token, so that the test can inspect running processes.
      const agent = join(dir, 'agent')
      put(
        agent,
        `#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in --version) exit 0 ;; --token-file) f=$2 ;; esac; shift; done
touch ${dir}/started
while [ ! -e ${dir}/seen ]; do sleep 0.05; done
cat "$f" >${dir}/enrolled
`,
      )
      const digest = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
      const script = installScript({
        serverUrl: 'https://p.example',
        sha256: { 'linux-x64': digest(readFileSync(agent)) },
      })
        .replaceAll('/usr/local/lib/portcullis', join(dir, 'lib'))
        .replaceAll('/usr/local/sbin', join(dir, 'sbin'))
        .replaceAll('/var/lib/portcullis-agent', join(dir, 'state'))
        .replace('[ -d /run/systemd/system ]', 'false')
      writeFileSync(join(dir, 'install.sh'), script)
      put(
        join(bin, 'curl'),
        `#!/bin/sh
for word; do case "$word" in *install.sh) from=${dir}/install.sh ;; *linux-x64) from=${agent} ;; esac; [ "$last" = -o ] && to=$word; last=$word; done
cp "$from" "$to"
`,
      )
      put(join(bin, 'sudo'), `#!/bin/sh\necho "$*" >>${dir}/sudo.log\nexec "$@"\n`)
      put(join(bin, 'id'), '#!/bin/sh\necho 0\n')
      const command = installCommand({ serverUrl: 'https://p.example', scriptSha256: digest(script) })
      const history = join(dir, 'history')
      const env = { PATH: `${bin}:${process.env.PATH}`, HOME: dir, HISTFILE: history, TERM: 'dumb', PS1: '$ ' }
      const isTyped = how === 'typed at its question'
      const shell = isTyped
        ? spawn('script', ['-qfec', 'bash --norc -i', '/dev/null'], { env })
        : spawn('bash', ['--norc', '-c', command], { env })
      const closed = new Promise((resolve) => shell.once('close', resolve))
      // The script may have exited when the input ends.
      shell.stdin.on('error', () => {})
      let shown = ''
      for (const stream of [shell.stdout, shell.stderr])
        stream.on('data', (part: Buffer) => {
          shown += part.toString()
        })
      const until = async (what: string, condition: () => boolean) => {
        for (let i = 0; !condition(); i++) {
          if (i > 1_000) throw new Error(`${what}: ${shown}`)
          await sleep(20)
        }
      }
      const found: string[] = []
      const looking = setInterval(() => {
        const pid = isInProcesses(token)
        if (pid !== undefined) found.push(pid)
      }, 10)
      onTestFinished(() => {
        clearInterval(looking)
        shell.kill('SIGKILL')
      })
      if (isTyped) {
        await until('a prompt', () => shown.includes('$ '))
        shell.stdin.write(`${command}\n`)
        await until('the question', () => shown.includes('Enrolment token (not shown): '))
        // The terminal echoes input until the script turns the echo off.
        await sleep(300)
      }
      shell.stdin.write(`${token}\n`)
      await until('the agent', () => existsSync(join(dir, 'started')))
      await sleep(200)
      writeFileSync(join(dir, 'seen'), '')
      await until('the enrolment', () => shown.includes('Done.'))
      shell.stdin.end(isTyped ? 'exit\n' : '')
      await closed
      expect(readFileSync(join(dir, 'enrolled'), 'utf8')).toBe(`${token}\n`)
      expect(found).toEqual([])
      expect(readFileSync(join(dir, 'sudo.log'), 'utf8')).not.toContain(token)
      expect(shown).not.toContain(token)
      if (isTyped) {
        expect(readFileSync(history, 'utf8')).toContain('install.sh')
        expect(readFileSync(history, 'utf8')).not.toContain(token)
      }
      expect(command).not.toContain('pce_')
    },
    60_000,
  )
})
