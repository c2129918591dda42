import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HostFacts } from '@portcullis/contract/agent-protocol.ts'
import { knownMachineHash, machineHash, parseOsRelease } from '@portcullis/domain'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { createBackoff } from '../src/backoff.ts'
import { loadConfig as loadConfigOf, usage } from '../src/config.ts'
import { createLog } from '../src/log.ts'
import { createFactsCollector } from '../src/platform/linux/facts.ts'
import { linux } from '../src/platform/linux/linux.ts'
import { macos } from '../src/platform/macos/macos.ts'
import { createTree, temporaryDir } from './harness.ts'

const loadConfig = (argv: readonly string[], env: Readonly<Record<string, string | undefined>>) =>
  loadConfigOf(argv, env, linux)

describe('settings', () => {
  it('refuse an unknown argument in two sentences', () => {
    expect(() => loadConfig(['--bogus'], {})).toThrow(
      /^Unknown option '--bogus'\. Run with --help for a list of options\.$/,
    )
  })

  it('prefer arguments to the environment and have defaults', () => {
    const config = loadConfig(['--state-dir', '/a'], {
      PORTCULLIS_AGENT_STATE_DIR: '/b',
      PORTCULLIS_AGENT_SERVER: 'https://h.example:8443',
      HOME: '/root',
    })
    expect(config).toMatchObject({
      command: 'run',
      stateDir: '/a',
      system: {},
      once: false,
      logLevel: 'info',
      allowInsecureHttp: false,
    })
    expect(config.server?.href).toBe('https://h.example:8443/')
  })

  it('come from the configuration file unless arguments or environment have them', () => {
    const file = join(temporaryDir(), 'agent.env')
    writeFileSync(
      file,
      '# comment\n\nPORTCULLIS_AGENT_SERVER="https://file.example"\r\nPORTCULLIS_AGENT_LOG_LEVEL = warn\n',
    )
    const config = loadConfig(['--config', file], { PORTCULLIS_AGENT_LOG_LEVEL: 'error' })
    expect([config.server?.href, config.logLevel]).toEqual(['https://file.example/', 'error'])
    expect(loadConfig([], { PORTCULLIS_AGENT_CONFIG: `${file}.missing` }).logLevel).toBe('info')
    writeFileSync(file, 'PORTCULLIS_AGENT_SERVR=https://file.example\n')
    expect(() => loadConfig(['--config', file], {})).toThrow('no setting PORTCULLIS_AGENT_SERVR')
    writeFileSync(file, '\nserver: x\n')
    expect(() => loadConfig(['--config', file], {})).toThrow('Line 2 of')
  })

  it('read no token for commands that connect to no server', () => {
    const env = { PORTCULLIS_AGENT_TOKEN_FILE: '/nowhere' }
    expect(loadConfig(['status'], env).command).toBe('status')
    expect(() => loadConfig([], env)).toThrow('Cannot read the token file')
  })

  it('select polling for another tree than /sys unless a monitor is set', () => {
    const hasMonitor = (...args: string[]) => linux.create(loadConfig(args, {}).system).monitor !== undefined
    expect(hasMonitor()).toBe(true)
    expect(hasMonitor('--sysfs-root', '/x')).toBe(false)
    expect(hasMonitor('--sysfs-root', '/x', '--monitor-command', 'cat  events')).toBe(true)
    expect(hasMonitor('--monitor-command', 'none')).toBe(false)
  })

  it('are refused from every source if they belong to another operating system', () => {
    const message = 'The setting --sysfs-root does not exist on this operating system'
    expect(() => loadConfigOf(['--sysfs-root', '/x'], {}, macos)).toThrow(message)
    expect(() => loadConfigOf([], { PORTCULLIS_AGENT_SYSFS_ROOT: '/x' }, macos)).toThrow(message)
    expect(usage(macos)).not.toContain('sysfs-root')
    expect(usage(linux)).toContain('--sysfs-root DIR')
  })

  it('reject a token file that other users can read, unless the host is enrolled', () => {
    const [dir, stateDir] = [temporaryDir(), temporaryDir()]
    const file = join(dir, 'token')
    const load = () => loadConfig(['--token-file', file, '--state-dir', stateDir], {})
    writeFileSync(file, 'secret-token\n', { mode: 0o600 })
    expect(load().token).toBe('secret-token')
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(file, mode)
      expect(load).toThrow(`Other users can read the token file ${file}. Make it readable by root only`)
      expect(load).not.toThrow('secret-token')
    }
    writeFileSync(join(stateDir, 'identity.json'), '{}')
    expect(load().token).toBeUndefined()
  })

  it('reject an unknown setting', () => {
    expect(() => loadConfig([], { PORTCULLIS_AGENT_TOKNE: 'x' })).toThrow('PORTCULLIS_AGENT_TOKNE')
  })
})

describe('facts', () => {
  const setUp = (changed: Record<string, string> = {}, isTemporary?: () => boolean) => {
    const tree = createTree()
    const etc = temporaryDir()
    const dmi = join(tree.root, 'class/dmi/id')
    mkdirSync(dmi, { recursive: true })
    for (const [name, value] of Object.entries({
      sys_vendor: 'LENOVO',
      product_name: 'ThinkPad',
      chassis_type: '10',
      product_sku: 'SKU-1',
      product_uuid: '4C4C4544-0042-3510-8052-B4C04F564433',
      ...changed,
    })) {
      writeFileSync(join(dmi, name), `${value}\n`)
    }
    const net = join(tree.root, 'class/net')
    for (const [name, address, state] of [
      ['lo', '00:00:00:00:00:00', 'unknown'],
      ['eth9', 'AA:bb:cc:dd:ee:ff', 'up'],
      ['veth12', 'aa:bb:cc:dd:ee:00', 'up'],
      ['ib0', '80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:1f:61', 'up'],
    ] as const) {
      mkdirSync(join(net, name), { recursive: true })
      writeFileSync(join(net, name, 'address'), `${address}\n`)
      writeFileSync(join(net, name, 'operstate'), `${state}\n`)
    }
    writeFileSync(join(etc, 'os-release'), 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n')
    writeFileSync(join(etc, 'debian_version'), '12.8\n')
    writeFileSync(join(etc, 'machine-id'), 'b08dfa6083e7567a1921a715000001fc\n')
    writeFileSync(join(etc, 'hostname'), 'desk-7\n')
    return createFactsCollector({
      sysfsRoot: tree.root,
      etcRoot: etc,
      agentVersion: '1.2.3',
      localAddress: () => '10.0.0.7',
      enforcement: () => ({ grade: 'before-driver', reason: '' }),
      releaseKey: () => 'a'.repeat(64),
      ...(isTemporary === undefined ? {} : { isTemporary }),
    })
  }

  it('describe the host within the contract', () => {
    const facts = setUp().collect()
    expect(Value.Check(HostFacts, facts)).toBe(true)
    expect(facts).toMatchObject({
      hostname: 'desk-7',
      address: '10.0.0.7',
      osName: 'Debian GNU/Linux 12 (bookworm)',
      osVersion: '12.8',
      vendor: 'LENOVO',
      model: 'ThinkPad',
      chassis: 'Notebook',
      sku: 'SKU-1',
      nics: [{ name: 'eth9', mac: 'aa:bb:cc:dd:ee:ff', addresses: [], isUp: true }],
      enforcement: 'before-driver',
    })
  })

  it('identify a machine by hashes, and omit the hashes of placeholders', () => {
    const facts = setUp()
    expect(facts.machineIdHash()).toMatch(/^[0-9a-f]{64}$/)
    expect(facts.smbiosHash()).toMatch(/^[0-9a-f]{64}$/)
    expect(facts.smbiosHash()).not.toBe(facts.machineIdHash())
    expect(machineHash('4c4c4544-0042-3510-8052-b4c04f564433')).toBe(facts.smbiosHash())
  })

  it.each([
    ...[undefined, '', '\n', 'uninitialized', 'Not Settable', 'To be filled by O.E.M.', ' Default  string '],
    ...['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', '0'.repeat(32), 'XXXXXXXX'],
    ...['03000200-0400-0500-0006-000700080009', '00020003-0004-0005-0006-000700080009'],
    ...['12345678-1234-5678-90AB-CDDEEFAABBCC', '{03020100-0504-0706-0809-0A0B0C0D0E0F}', '0123456789ABCDEF'],
    ...['feFEfefe-fefe-fefe-fefe-fefefefefefe', 'b08dfa6083e7567a1921a715000001fb'],
  ])('identify no machine by the placeholder %j', (text) => {
    expect(machineHash(text)).toBeNull()
    expect(setUp({ product_uuid: text ?? '' }).smbiosHash()).toBeNull()
  })

  it.each(['uninitialized', 'Not Settable', '03000200-0400-0500-0006-000700080009', '1'.repeat(32)])(
    'do not count the hash of the placeholder %j that earlier versions stored',
    (text) => {
      const hash = createHash('sha256').update(`portcullis:${text.toLowerCase()}`).digest('hex')
      expect(knownMachineHash(hash)).toBeNull()
      expect(knownMachineHash('ab'.repeat(32))).toBe('ab'.repeat(32))
    },
  )

  it('identify no machine by a machine ID that is lost at the next start', () => {
    expect(setUp({}, () => true).machineIdHash()).toBeNull()
    expect(setUp({}, () => true).smbiosHash()).toMatch(/^[0-9a-f]{64}$/)
  })

  it('identify a board without SMBIOS by its serial number', () => {
    const tree = createTree()
    const base = join(tree.root, 'firmware/devicetree/base')
    mkdirSync(base, { recursive: true })
    writeFileSync(join(base, 'serial-number'), '10000000a3b4c5d6\0')
    const deps = { agentVersion: '1', localAddress: () => '', releaseKey: () => '' }
    const enforcement = () => ({ grade: 'observe' as const, reason: '' })
    const board = createFactsCollector({ sysfsRoot: tree.root, etcRoot: temporaryDir(), enforcement, ...deps })
    expect(board.smbiosHash()).toBe(machineHash('10000000a3b4c5d6'))
    writeFileSync(join(base, 'serial-number'), '0000000000000000\0')
    expect(board.smbiosHash()).toBeNull()
  })

  it('have no machine ID that systemd took from the firmware, which would give away its UUID', () => {
    const id = 'b08dfa6083e7567a1921a715000001fc'
    const uuid = 'B08DFA60-83E7-567A-1921-A715000001FC'
    const same = setUp({ product_uuid: uuid })
    expect([same.machineIdHash(), same.smbiosHash()]).toEqual([null, machineHash(uuid)])
    expect(setUp({ product_uuid: uuid.replace('FC', 'FD') }).machineIdHash()).toBe(machineHash(id))
  })

  it('show no placeholder of the vendor', () => {
    const changed = { sys_vendor: 'System manufacturer', product_name: 'To Be Filled By O.E.M.', product_sku: '.' }
    expect(setUp(changed).collect()).toMatchObject({ vendor: '', model: '', sku: '', chassis: 'Notebook' })
  })

  it('describe the host that runs the test within the contract', () => {
    const facts = createFactsCollector({
      sysfsRoot: '/sys',
      etcRoot: '/etc',
      agentVersion: '1',
      localAddress: () => '',
      enforcement: () => ({ grade: 'observe', reason: 'The host shows no USB controller.' }),
      releaseKey: () => '',
    }).collect()
    expect(Value.Check(HostFacts, facts)).toBe(true)
  })

  it('contain the values of os-release with and without quotes', () => {
    expect([...parseOsRelease('A=1\nB="x \\"y\\""\nC=\'z\'\n# no\nbad line\n')]).toEqual([
      ['A', '1'],
      ['B', 'x "y"'],
      ['C', 'z'],
    ])
  })
})

describe('log', () => {
  it('writes one JSON object per line to a bounded ring, whatever the fields contain', () => {
    const dir = temporaryDir()
    const lines: string[] = []
    const log = createLog({
      clock: { now: () => 0, monotonic: () => 0 },
      level: 'info',
      write: (line) => lines.push(line),
      dir,
      ringBytes: 2000,
    })
    log.debug('hidden')
    for (let i = 0; i < 200; i++) log.warn('device', { product: 'a\n{"level":"error"}\u001b[2J', i })
    expect(lines).toHaveLength(200)
    expect(
      lines.every(
        (line) =>
          line.indexOf('\n') === line.length - 1 && !line.includes('\u001b') && JSON.parse(line).event === 'device',
      ),
    ).toBe(true)
    expect(statSync(join(dir, 'agent.log')).size).toBeLessThanOrEqual(2000)
    expect(statSync(join(dir, 'agent.log.1')).size).toBeLessThanOrEqual(2000)
    expect(readFileSync(join(dir, 'agent.log'), 'utf8')).toContain('"i":199')
  })
})

describe('back-off', () => {
  it('doubles to its maximum with jitter in the upper half, and resets', () => {
    const low = createBackoff({ minMs: 1000, maxMs: 5000, random: () => 0 })
    const high = createBackoff({ minMs: 1000, maxMs: 5000, random: () => 1 })
    expect([1, 2, 3, 4, 5].map(() => low.next())).toEqual([500, 1000, 2000, 2500, 2500])
    expect([1, 2, 3, 4].map(() => high.next())).toEqual([1000, 2000, 4000, 5000])
    high.reset()
    expect(high.next()).toBe(1000)
  })
})
