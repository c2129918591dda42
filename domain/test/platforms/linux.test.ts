import { execFileSync } from 'node:child_process'
import {
  describeKernelTree,
  describeSysfs,
  hub,
  keyboardBehindHubs,
  plainKeyboard,
  securityKeyBehindHub,
  storageStick,
} from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { POSIX_COMMAND, readPoll } from '../../src/platforms/index.ts'
import { pollLinux, presentShells } from './linux-host.ts'

const etc: [string, string][] = [
  ['os-release', 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\n'],
  ['debian_version', '12.8\n'],
  ['machine-id', '0123456789abcdef0123456789abcdef\n'],
]
const hardware: [string, string][] = [
  ['class/dmi/id/sys_vendor', 'LENOVO\n'],
  ['class/dmi/id/product_name', '20XW\n'],
  ['class/dmi/id/chassis_type', '10\n'],
  ['class/dmi/id/product_sku', 'LENOVO_MT_20XW\n'],
  ['class/net/eth0/address', '02:00:00:00:00:01\n'],
  ['class/net/eth0/operstate', 'up\n'],
  ['class/net/lo/address', '00:00:00:00:00:00\n'],
  ['class/net/vethab/address', '02:00:00:00:00:02\n'],
]

describe.each(presentShells)('a Linux host that is polled with %s', (shell) => {
  it('returns its devices as an agent does', () => {
    const devices = [
      hub({ portPath: '1-1' }),
      plainKeyboard({ portPath: '1-1.2' }),
      storageStick({ portPath: '1-10', authorized: false }),
    ].map((d) => ({ authorized: true, removable: 'unknown' as const, speedMbps: 480, ...d }))
    const { platform, reading } = readPoll(pollLinux([...describeSysfs(devices), ...hardware], { shell, etc }))
    expect(platform).toBe('linux')
    expect(reading).toMatchObject({ ok: true, leftOut: 0, devices, machineId: '0123456789abcdef0123456789abcdef' })
    expect(reading.ok && reading.facts).toMatchObject({
      osName: 'Debian GNU/Linux 12 (bookworm)',
      osVersion: '12.8',
      kernel: execFileSync('uname', ['-r'], { encoding: 'utf8' }).trim(),
      hostname: execFileSync('uname', ['-n'], { encoding: 'utf8' }).trim(),
      architecture: process.arch,
      vendor: 'LENOVO',
      model: '20XW',
      chassis: 'Notebook',
      sku: 'LENOVO_MT_20XW',
      agentVersion: '',
      enforcement: 'observe',
      nics: [{ name: 'eth0', mac: '02:00:00:00:00:01', addresses: [], isUp: true }],
    })
  })
})

it('believes a hub that a port is fixed only if the hub is inside the host', () => {
  const devices = [
    hub({ portPath: '1-1', removable: 'removable' }),
    plainKeyboard({ portPath: '1-1.2', removable: 'fixed' }),
    hub({ portPath: '1-2', removable: 'fixed' }),
    plainKeyboard({ portPath: '1-2.2', removable: 'fixed' }),
  ]
  const { reading } = readPoll(pollLinux([...describeSysfs(devices), ...hardware], { etc }))
  expect(reading.ok && reading.devices.map(({ removable }) => removable)).toEqual([
    'removable',
    'unknown',
    'fixed',
    'fixed',
  ])
})

it('runs on this machine as over SSH', () => {
  const output = execFileSync('sh', ['-c', POSIX_COMMAND], { timeout: 20_000 })
  expect(readPoll(output)).toMatchObject({ platform: 'linux', reading: { ok: true } })
})

/** Builds output of the script. */
const answer = (values: string[], rest: string[] = [], system = 'Linux'): Buffer =>
  Buffer.from(
    [
      'portcullis 1',
      system,
      Buffer.from(values.map((v) => `${v}\0`).join('')).toString('hex'),
      ...rest,
      'end',
      '',
    ].join('\n'),
  )
const host = ['Linux host 6.1.0 x86_64', '', '', '', '', '', '', '']
const stick = Buffer.from(storageStick().descriptors, 'base64').toString('hex')

describe('a hostile device', () => {
  const forged = `x\n\nd\n1-2\n1-2/idVendor\n= 1-2\n${stick}\nend\nportcullis 1\nLinux`

  it('cannot fake a second device with its name', () => {
    const device = plainKeyboard({ product: forged, manufacturer: '\n1-2/idVendor=05ac', serial: 'a\nb\n' })
    const { reading } = readPoll(pollLinux(describeSysfs([device])))
    expect(reading).toMatchObject({ ok: true, devices: [{ ...device, product: forged.slice(0, 255) }] })
  })

  it('keeps unusual texts, except characters that reports cannot contain', () => {
    const product = Buffer.from([0xff, 0x41, 0xc3, 0x0a, 0x42])
    const files = new Map(describeSysfs([plainKeyboard()])).set('bus/usb/devices/1-1/product', product)
    const { reading } = readPoll(pollLinux(files))
    expect(reading.ok && reading.devices[0]?.product).toBe('\ufffdA\ufffd\nB')
  })

  it('is reported with descriptors of any length up to the limit', () => {
    const { reading } = readPoll(
      answer([...host, 'd', '1-1', '1', '480', '', '', '', '', ''], ['= 1-1', stick.repeat(2_000)]),
    )
    expect(reading.ok && Buffer.from(reading.devices[0]?.descriptors ?? '', 'base64').length).toBe(12_288)
  })
})

describe('the output', () => {
  it('is parsed after the greeting of a login script', () => {
    const output = Buffer.concat([Buffer.from('Welcome\nto host\n'), answer(host)])
    expect(readPoll(output)).toMatchObject({ platform: 'linux', reading: { ok: true, devices: [] } })
  })

  it.each([
    ['nothing', '', null, 'not-understood'],
    ['a shell that knows no such command', "'sh' is not recognized", null, 'not-understood'],
    ['another system', 'portcullis 1\nFreeBSD\n', null, 'platform-unknown'],
    ['an end that is missing', 'portcullis 1\nLinux\n 4c 69\n= 1-1\n', 'linux', 'not-understood'],
    ['other output in between', 'portcullis 1\nLinux\n 4c 69\nBroadcast message\nend\n', 'linux', 'not-understood'],
    ['no od', 'portcullis 1\nLinux\nerror od\n', 'linux', 'not-understood'],
    ['a shut sysfs', 'portcullis 1\nLinux\nerror denied\n00\nend\n', 'linux', 'not-permitted'],
  ])('is reported as invalid: %s', (_, text, platform, failure) => {
    expect(readPoll(Buffer.from(text))).toMatchObject({ platform, reading: { ok: false, failure } })
  })

  it('is an error without sysfs and empty without USB', () => {
    expect(readPoll(pollLinux([['none', '']])).reading).toMatchObject({ ok: false, failure: 'not-permitted' })
    expect(readPoll(pollLinux([['bus/pci/x', '']])).reading).toMatchObject({ ok: true, devices: [] })
  })

  it('is an error without readable descriptors', () => {
    const values = [...host, 'd', '1-1', '1', '480', '', '', '', '', '']
    expect(readPoll(answer(values, ['= 1-1'])).reading).toMatchObject({ ok: false, failure: 'not-permitted' })
  })

  it('contains report descriptors in interface order', () => {
    const values = [...host, 'd', '1-1', '1', '480', '', '', '', '', '']
    const hid = ['= 1-1', stick, '+ 1-1:1.10', ' 0a 0b', '+ 1-1:1.2', ' 02']
    const { reading } = readPoll(answer(values, hid))
    expect(reading.ok && reading.devices[0]?.reportDescriptors).toEqual(['Ag==', 'Cgs='])
  })

  it('keeps the first 512 of 100,000 devices by port', () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `${(i >> 8) % 999}-${(i & 255) + 1}`)
    const values = names.slice(0, 3_000).flatMap((name) => ['d', name, '1', '480', '', '', '', '', ''])
    const { reading } = readPoll(
      answer(
        [...host, ...values],
        names.flatMap((name) => [`= ${name}`, stick]),
      ),
    )
    expect(reading).toMatchObject({ ok: true, leftOut: 3_000 - 512 })
    expect(reading.ok && reading.devices.map((d) => d.portPath).slice(0, 2)).toEqual(['0-1', '0-2'])
    expect(reading.ok && reading.devices.length).toBe(512)
  })

  it('is processed up to the limit, for 10 MB and more', () => {
    expect(readPoll(Buffer.concat([answer(host), Buffer.alloc(10e6, '\n')])).reading.ok).toBe(true)
    expect(readPoll(Buffer.from(`portcullis 1\nLinux\n${'00'.repeat(5e6)}\nend\n`)).reading.ok).toBe(true)
    expect(readPoll(Buffer.alloc(17 * 1024 * 1024)).reading).toMatchObject({ failure: 'output-too-large' })
  })
})

describe('sysfs trees with links', () => {
  it.each([
    ['a keyboard behind hubs', keyboardBehindHubs()],
    ['a security key behind a hub', securityKeyBehindHub()],
  ])('are parsed when polled: %s', (_what, reports) => {
    const { reading } = readPoll(pollLinux(describeKernelTree(reports)))
    expect(reading.ok && reading.devices).toEqual(
      reports.map((report) => expect.objectContaining({ authorized: true, ...report })),
    )
  })
})
