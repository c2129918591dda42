import { afterEach, describe, expect, it } from 'vitest'
import { createDestinations } from '#platform/destinations.ts'
import { createAuthority } from '#test/certificates.ts'
import { type SyslogReceiverOptions, startSyslogReceiver } from '#test/peers/syslog-receiver.ts'
import { createSyslogSender, parseSyslogAddress, SyslogError, type SyslogProtocol } from './index.ts'

const authority = createAuthority()
const certificate = authority.issue(['127.0.0.1'])
const resolve = createDestinations([])
const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const receiver = async (options: SyslogReceiverOptions) => {
  const started = await startSyslogReceiver({ certificate, ...options })
  closing.push(started.close)
  return started
}
const timeouts = { connectMs: 2_000, wholeMs: 2_000 }
const sender = (protocol: SyslogProtocol, port: number, given: Partial<typeof timeouts> = {}) => {
  const started = createSyslogSender({
    address: { protocol, host: '127.0.0.1', port },
    ca: [authority.pem],
    timeouts: { ...timeouts, ...given },
    resolve,
  })
  closing.push(started.close)
  return started
}
const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'sent',
    (error: unknown) => (error instanceof SyslogError ? error.fault : error),
  )
const batch = (count: number, length = 100): Buffer[] =>
  Array.from({ length: count }, (_, i) => Buffer.from(`<134>1 - - - - - - ${i} ${'ä'.repeat(length / 2)}`))

describe('an address', () => {
  it.each([
    ['siem.example.org', 'udp', { host: 'siem.example.org', port: 514 }],
    ['siem.example.org', 'tcp', { host: 'siem.example.org', port: 601 }],
    ['siem.example.org', 'tls', { host: 'siem.example.org', port: 6514 }],
    ['siem:1514', 'tcp', { host: 'siem', port: 1514 }],
    ['10.1.2.3:514', 'udp', { host: '10.1.2.3', port: 514 }],
    ['[2001:db8::7]', 'tls', { host: '2001:db8::7', port: 6514 }],
    ['[2001:db8::7]:514', 'udp', { host: '2001:db8::7', port: 514 }],
    ['2001:db8::7', 'udp', { host: '2001:db8::7', port: 514 }],
  ] as const)('%s over %s', (text, protocol, expected) => {
    expect(parseSyslogAddress(text, protocol)).toEqual({ protocol, ...expected })
  })

  it.each([
    '',
    ':514',
    'host:',
    'host:0',
    'host:65536',
    'host:5a',
    'host\r\n',
    'ho st',
    'a/b',
    'user@host',
    'udp://host',
    '[host]:1',
    '[::1',
    '[fe80::1%eth0]:514',
    'fe80::1%eth0',
    '-host',
    'a..b',
    `${'a'.repeat(64)}.org`,
  ])('is not %j', (text) => {
    expect(parseSyslogAddress(text, 'tcp')).toBeNull()
  })
})

describe.each(['udp', 'tcp', 'tls'] as const)('syslog over %s', (protocol) => {
  it('arrives as it was sent, in order', async () => {
    const peer = await receiver({ protocol })
    const messages = batch(200)
    await sender(protocol, peer.port).send(messages)
    expect(peer.texts()).toEqual(messages.map(String))
    expect(peer.faults).toEqual([])
  })

  it('says that nobody listens', async () => {
    const peer = await receiver({ protocol })
    await peer.close()
    closing.pop()
    expect(await faultOf(sender(protocol, peer.port).send(batch(3)))).toBe('unreachable')
  })
})
