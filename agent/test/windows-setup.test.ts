import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sha256Hex } from '../src/keys.ts'
import { quoteProgram } from '../src/platform/windows/service-setup.ts'
import { runSetup } from '../src/platform/windows/setup.ts'
import { forgetToken } from '../src/platform/windows/setup-settings.ts'

const SERVER = 'https://portcullis.example.org:8443'
const TOKEN = 'pce_0_secret'
const CODE = '{6F2B8C1E-5D0A-4E53-9B57-3C2A9D1F7E40}'
const EMPTY = 'PORTCULLIS-SLOT-PresetToken-....'

const setUp = ({ related = ['{A}'], isForeign = false } = {}) => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-setup-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const state = join(dir, 'Portcullis Agent')
  const calls: string[] = []
  const errors: string[] = []
  const notes: string[] = []
  const deps = () => ({
    prepareStateDir(path: string) {
      if (isForeign) throw new Error('another user created it')
      mkdirSync(path, { recursive: true })
    },
    setUpService: () => void calls.push('service'),
    cleanRegistry: (hasState: boolean) =>
      void calls.push(hasState && existsSync(state) ? 'freed with its state' : 'freed without its state'),
    relatedProducts: () => related,
    stopService: () => void calls.push('stop'),
    startService: () => void calls.push('start'),
    reportError: (message: string) => void errors.push(message),
    reportNote: (message: string) => void notes.push(message),
  })
  const run = (...args: string[]) => runSetup(args, { ProgramData: dir }, deps)
  const read = (name: string) => readFileSync(join(state, name), 'utf8').replaceAll('\r\n', '\n')
  return { state, calls, errors, notes, run, read }
}

describe('the settings of an installation', () => {
  it('come from the command line, or else from the package', () => {
    const { state, run, read, calls } = setUp()
    const preset = (server: string, token: string) =>
      run('configure', server, token, `${'https://preset.example'.padEnd(512)}`, 'pce_0_preset'.padEnd(512), '', '', '')
    expect(preset('', '')).toBe(true)
    expect(read('agent.env')).toBe(`PORTCULLIS_AGENT_STATE_DIR=${state}
PORTCULLIS_AGENT_SERVER=https://preset.example
PORTCULLIS_AGENT_TOKEN_FILE=${join(state, 'token')}
`)
    expect(read('token')).toBe('pce_0_preset\n')
    preset(SERVER, TOKEN)
    expect(read('agent.env')).toContain(`PORTCULLIS_AGENT_SERVER=${SERVER}\n`)
    expect(read('token')).toBe(`${TOKEN}\n`)
    // The token of the package belongs to its server.
    expect(() => preset(SERVER, '')).toThrow('The enrolment token is missing')
    expect(calls).toEqual(['service', 'service'])
  })

  it('keep values that an upgrade does not set, and need no token for an enrolled host', () => {
    const { state, run, read } = setUp()
    const proxy = ['http://proxy.example.org:3128', '10.0.0.0/8', 'C:\\proxy.txt']
    run('configure', SERVER, TOKEN, EMPTY, EMPTY, ...proxy)
    writeFileSync(join(state, 'identity.json'), '{}')
    const before = read('agent.env')
    expect(before).toContain(
      'PORTCULLIS_AGENT_NO_PROXY=10.0.0.0/8\nPORTCULLIS_AGENT_PROXY_CREDENTIALS_FILE=C:\\proxy.txt\n',
    )
    run('configure', '', '', EMPTY, EMPTY, '', '', '')
    expect(read('agent.env')).toBe(before)
    run('configure', 'https://new.example', '', EMPTY, EMPTY, '', '', '')
    expect(read('agent.env')).toBe(before.replace(SERVER, 'https://new.example'))
  })

  it.each([
    ['a missing address', ['', TOKEN, EMPTY, EMPTY, '', '', ''], 'The address of the server is missing'],
    ['a missing token', [SERVER, '', EMPTY, EMPTY, '', '', ''], 'The enrolment token is missing'],
    ['another scheme', ['ftp://p.example', TOKEN, '', '', '', '', ''], 'SERVERURL is not an address'],
    ['a password in the address', ['https://u:secret@p.example', TOKEN, '', '', '', '', ''], 'only scheme, host, port'],
    ['an invalid token', [SERVER, 'pce_ secret', '', '', '', '', ''], 'TOKEN is not an enrolment token'],
    ['a line break in the token', [SERVER, `${TOKEN}\nPORTCULLIS_AGENT_X=1`, '', '', '', '', ''], 'TOKEN is not'],
    ['an invalid proxy', [SERVER, TOKEN, '', '', 'socks5://secret', '', ''], 'The address of the proxy is invalid'],
    ['shifted values', [SERVER, TOKEN, '', '', 'http://p" "secret'], 'contains a quotation mark'],
  ])('are refused for %s, and nothing is changed', (_what, values, message) => {
    const { state, run, calls, errors } = setUp()
    const refused = () => run('configure', ...values)
    expect(refused).toThrow(message)
    expect(errors[0]).toMatch(new RegExp(`^The installation was refused. .*${message}`))
    expect(errors.join()).not.toContain('secret')
    expect(existsSync(state)).toBe(false)
    expect(calls).toEqual([])
  })
})

describe('the settings of an installed agent', () => {
  const values = (server: string, token: string) => [server, token, '', '', '', '', '']
  const installed = () => {
    const made = setUp()
    made.run('configure', ...values(SERVER, TOKEN))
    made.calls.length = 0
    return made
  }
  const identity = (state: string, more: object = {}) =>
    writeFileSync(join(state, 'identity.json'), JSON.stringify({ agentId: 'a', ...more }))

  it('get a new token, or a new address with its token, while the service is stopped', () => {
    const { run, read, calls } = installed()
    expect(run('reconfigure', ...values('', 'pce_0_second'))).toBe(true)
    expect(read('token')).toBe('pce_0_second\n')
    expect(read('agent.env')).toContain(`PORTCULLIS_AGENT_SERVER=${SERVER}\n`)
    run('reconfigure', ...values('https://new.example', 'pce_0_third'))
    expect([read('token'), read('agent.env')]).toEqual([
      'pce_0_third\n',
      expect.stringContaining('PORTCULLIS_AGENT_SERVER=https://new.example\n'),
    ])
    expect(calls).toEqual(['stop', 'service', 'start', 'stop', 'service', 'start'])
  })

  it('keep the identity of an enrolled host, and ignore the token', () => {
    const { state, run, read, notes } = installed()
    identity(state)
    run('reconfigure', ...values('https://new.example', 'pce_0_second'))
    expect(read('token')).toBe(`${TOKEN}\n`)
    expect(notes).toEqual([expect.stringContaining('keeps its identity and ignores the token')])
    writeFileSync(join(state, 'identity.json'), '{')
    run('reconfigure', ...values('', 'pce_0_second'))
    expect(read('token')).toBe(`${TOKEN}\n`)
  })

  it.each([
    ['revoked', { revoked: { code: 'agent_revoked', at: '' } }, {}],
    ['unknown to its server', { unknownSince: '2026-01-01' }, {}],
    ['a copy of another host', {}, { state: 'not enrolled' }],
  ])('get a new token if the host is %s', (_what, more, status) => {
    const { state, run, read } = installed()
    identity(state, more)
    writeFileSync(join(state, 'status.json'), JSON.stringify(status))
    run('reconfigure', ...values('', 'pce_0_second'))
    expect(read('token')).toBe('pce_0_second\n')
  })

  it.each([
    ['another scheme', values('ftp://p.example', TOKEN), 'SERVERURL is not an address'],
    ['http to another machine', values('http://p.example', TOKEN), 'is not encrypted'],
    ['a missing token', values(SERVER, ''), 'The enrolment token is missing'],
    ['an invalid token', values('', 'secret'), 'TOKEN is not an enrolment token'],
  ])('stay after %s, and the service runs again', (_what, refused, message) => {
    const { run, read, calls, errors } = installed()
    const before = read('agent.env')
    expect(() => run('reconfigure', ...refused)).toThrow(message)
    expect([read('agent.env'), read('token')]).toEqual([before, `${TOKEN}\n`])
    expect(calls.filter((call) => call !== 'service')).toEqual(calls.length === 0 ? [] : ['stop', 'start'])
    expect(errors.join()).toContain(message)
    expect(errors.join()).not.toContain('secret')
  })
})

it('deletes the token of its enrolment, and no other, when the service of an enrolled host starts', () => {
  const { state, run, read } = setUp()
  run('configure', SERVER, TOKEN, EMPTY, EMPTY, '', '', '')
  forgetToken(state)
  expect(read('token')).toBe(`${TOKEN}\n`)
  writeFileSync(join(state, 'identity.json'), JSON.stringify({ tokenHash: sha256Hex('another token') }))
  forgetToken(state)
  expect(read('token')).toBe(`${TOKEN}\n`)
  writeFileSync(join(state, 'identity.json'), JSON.stringify({ tokenHash: sha256Hex(TOKEN) }))
  forgetToken(state)
  expect(existsSync(join(state, 'token'))).toBe(false)
})

describe('the state directory', () => {
  it.each([
    ['purge', ['{A}'], false],
    ['purge', ['{A}', '{B}'], true],
    ['roll-back', [], false],
    ['roll-back', ['{A}'], true],
  ])('after %s with the versions %j exists: %s', (command, related, isKept) => {
    const { state, run, calls } = setUp({ related })
    mkdirSync(state)
    writeFileSync(join(state, 'identity.json'), '{}')
    expect(run(command, CODE)).toBe(true)
    expect(existsSync(state)).toBe(isKept)
    expect(calls).toEqual(isKept ? [] : ['freed with its state'])
  })

  it.each(['purge', 'roll-back'])('stays after %s if another user created it, and is not used', (command) => {
    const { state, run, calls, errors } = setUp({ related: command === 'purge' ? ['{A}'] : [], isForeign: true })
    mkdirSync(state)
    run(command, CODE)
    expect([existsSync(state), calls]).toEqual([true, ['freed without its state']])
    expect(errors).toEqual([`The state directory ${state} was not removed: another user created it.`])
  })

  it('is not touched by other commands', () => expect(setUp().run('status')).toBe(false))
})

it('quotes the program of a service once', () => {
  const quoted = '"C:\\Program Files\\P\\node.exe" --x "C:\\a.cjs" service'
  expect(quoteProgram(quoted.replace(/"(.*?exe)"/, '$1'))).toBe(quoted)
  expect(quoteProgram(quoted)).toBe(quoted)
})
