import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { installCommand, installScript, quoteShellWord } from './script.ts'
import { agentUnit, quoteUnitWord } from './unit.ts'

const sha256 = 'a'.repeat(64)
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

  it('carries every word literally', () => {
    for (const word of [hostile, "'", "''\n$(id)", '-n', '']) {
      expect(sh(`printf %s ${quoteShellWord(word)}`).stdout).toBe(word)
    }
    const lines = installScript({ serverUrl: hostile, sha256 }).split('\n')
    const assignment = lines.find((line) => line.startsWith('SERVER=')) ?? ''
    expect(sh(`${assignment}\nprintf %s "$SERVER"`).stdout).toBe(hostile)
  })

  it('refuses what it can not carry', () => {
    expect(() => installScript({ serverUrl: 'https://p.example/\nid', sha256 })).toThrow(RangeError)
    expect(() => installScript({ serverUrl: 'ftp://p.example', sha256 })).toThrow(RangeError)
    expect(() => installScript({ serverUrl: 'https://p.example', sha256: '$(id)' })).toThrow(RangeError)
    expect(() => quoteUnitWord('a\nExecStart=/bin/sh')).toThrow(RangeError)
  })

  it('frees the host before it removes the agent', () => {
    const script = installScript({ serverUrl: 'https://p.example', sha256 })
    const removal = /^uninstall\(\) \{\n([\s\S]*?)^\}/m.exec(script)?.[1] ?? ''
    const ran = sh(
      `d=$(mktemp -d); EXECUTABLE=$d/lib/agent; DIRECTORY=$d/lib; UNIT=$d/unit; UNIT_NAME=x; STATE_DIR=$d/state
has_systemd() { return 1; }; mkdir "$d/lib" "$STATE_DIR"; echo >"$EXECUTABLE.previous"
printf '#!/bin/sh\necho "$1 $(test -d "$3" && echo before)"\n' >"$EXECUTABLE"; chmod +x "$EXECUTABLE"
${removal}
ls "$d"; rm -r "$d"`,
    )
    expect(ran.stdout).toMatch(/^release before\nThe Portcullis agent was removed\..*\n$/)
  })

  it('stops with a sentence without root, without a token and with something else in its place', () => {
    const script = installScript({ serverUrl: 'https://p.example', sha256 })
    const asRoot = (uid: number) => `id() { echo ${uid}; }\n${script}`
    expect(sh(asRoot(1000), ['pce_1_x']).stderr).toContain('as root')
    expect(sh(asRoot(0)).stderr).toContain('give the enrolment token')
    expect(sh(asRoot(0), ['nonsense']).stderr).toContain('not an enrolment token')
    expect(sh(asRoot(0), ['nonsense']).status).toBe(1)
  })
})

describe('unit', () => {
  it('escapes what systemd would expand', () => {
    expect(quoteUnitWord('a%b$c"d\\')).toBe('"a%%b$$c\\"d\\\\"')
  })

  it('gives the defaults back however the agent ends, by the version before where an update is under way', () => {
    const line = agentUnit({ serverUrl: 'https://p.example' })
      .split('\n')
      .find((found) => found.startsWith('ExecStopPost='))
    // As systemd reads it: doubled dollars are single ones, the script is one word.
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
  it('runs a script only when its digest is the announced one, with sudo where there is one', () => {
    const script = 'echo "ran with $1"\n'
    const digest = createHash('sha256').update(script).digest('hex')
    // Stand-ins on a path of its own: curl that writes the script, and where asked for a sudo that says so.
    const run = (scriptSha256: string, token: string, { sudo = false } = {}) => {
      const command = installCommand({ serverUrl: 'https://p.example', token, scriptSha256, caPin: 'x' })
      const standIns = [
        `printf '#!/bin/sh\nprintf %%s "$SCRIPT" >"$3"\n' >"$dir/curl"`,
        `for t in sh rm mktemp sha256sum; do ln -s "$(command -v $t)" "$dir/$t"; done`,
        ...(sudo ? [`printf '#!/bin/sh\necho by sudo\nexec "$@"\n' >"$dir/sudo"`] : []),
        'rm=$(command -v rm); chmod +x "$dir"/*; PATH="$dir"',
      ]
      const lines = ['dir=$(mktemp -d)', ...standIns, command, 'echo "exit $?"', '"$rm" -r "$dir"']
      return sh(lines.join('\n'), [], { SCRIPT: script })
    }
    expect(run(digest, "pce_1_a'b").stdout).toBe("ran with pce_1_a'b\nexit 0\n")
    expect(run(digest, 'pce_1_x', { sudo: true }).stdout).toBe('by sudo\nran with pce_1_x\nexit 0\n')
    const refused = run('0'.repeat(64), 'pce_1_x', { sudo: true })
    expect(refused.stdout).not.toContain('ran')
    expect(refused.stdout).toContain('exit 1')
  })
})
