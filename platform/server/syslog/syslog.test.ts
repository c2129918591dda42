// Invariant: A syslog batch counts as sent when its receiver has read all of it.

import { type AddressInfo, createServer } from 'node:net'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { type SyslogReceiverOptions, startSyslogReceiver } from '@portcullis/server/test/peers/syslog-receiver.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createDestinations } from '#platform/server/destinations.ts'
import { createSyslogSender, parseSyslogAddress, SyslogError, type SyslogProtocol } from './index.ts'

const authority = await createAuthority()
const certificate = await authority.issue(['127.0.0.1'])
const resolve = createDestinations(['127.0.0.0/8', '::1'])
const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const receiver = async (options: SyslogReceiverOptions) => {
  const started = await startSyslogReceiver({ certificate, ...options })
  closing.push(started.close)
  return started
}
const timeouts = { connectMs: 10_000, wholeMs: 10_000 }
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
  it('arrives unchanged and in order', async () => {
    const peer = await receiver({ protocol })
    const messages = batch(200)
    await sender(protocol, peer.port).send(messages)
    expect(peer.texts()).toEqual(messages.map(String))
    expect(peer.faults).toEqual([])
  })

  it('reports that nothing listens', async () => {
    const peer = await receiver({ protocol })
    await peer.close()
    closing.pop()
    expect(await faultOf(sender(protocol, peer.port).send(batch(3)))).toBe('unreachable')
  })
})

describe.each(['tcp', 'tls'] as const)('a receiver over %s', (protocol) => {
  it('fails with a timeout if it accepts and never reads', async () => {
    const peer = await receiver({ protocol, behaviour: 'neverReads' })
    // The kernels buffer this much without a reader.
    expect(await faultOf(sender(protocol, peer.port, { wholeMs: 600 }).send(batch(10)))).toBe('timeout')
    expect(await faultOf(sender(protocol, peer.port, { wholeMs: 600 }).send(batch(5_000, 2_000)))).toBe('timeout')
  })

  it('has not received the batch if it resets the connection', async () => {
    const peer = await receiver({ protocol, behaviour: { reset: 100_000 } })
    expect(await faultOf(sender(protocol, peer.port).send(batch(5_000, 1_000)))).toBe('reset')
  })

  it('has not received the batch if it closes early', async () => {
    const peer = await receiver({ protocol, behaviour: { closesEarly: 1 } })
    expect(await faultOf(sender(protocol, peer.port).send(batch(5_000, 1_000)))).toBe('reset')
  })

  it('gets the whole batch, or fails with a timeout, if it reads slowly', async () => {
    const peer = await receiver({ protocol, behaviour: { slow: 20_000 } })
    const messages = batch(100)
    await sender(protocol, peer.port).send(messages)
    expect(peer.texts()).toEqual(messages.map(String))
    peer.state.behaviour = { slow: 20 }
    expect(await faultOf(sender(protocol, peer.port, { wholeMs: 600 }).send(messages))).toBe('timeout')
  })

  it('gets the same messages again after it recovered', async () => {
    const peer = await receiver({ protocol, behaviour: { closesEarly: 1 } })
    const one = sender(protocol, peer.port)
    const messages = batch(5_000, 1_000)
    expect(await faultOf(one.send(messages))).toBe('reset')
    peer.state.behaviour = 'normal'
    await one.send(messages)
    expect(peer.texts()).toEqual(messages.map(String))
  })

  it('is disconnected when the sender is closed', async () => {
    const peer = await receiver({ protocol, behaviour: 'neverReads' })
    const one = sender(protocol, peer.port)
    const sending = faultOf(one.send(batch(3)))
    setTimeout(one.close, 50)
    expect(await sending).toBe('reset')
    expect(await faultOf(one.send(batch(3)))).toBe('reset')
  })
})

it('another service that reads everything, answers and closes normally has not received the batch', async () => {
  const server = createServer((socket) => {
    socket.once('end', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).resume()
  })
  closing.push(() => void server.close())
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  expect(await faultOf(sender('tcp', port).send(batch(10)))).toBe('answered')
})

it('a receiver that closes its side while messages are in flight has not received them', async () => {
  const peer = await receiver({ protocol: 'tcp', behaviour: { halfCloses: 1 } })
  // More than its kernel buffers, less than ours: all is written, including our FIN, and its FIN arrives before the
  // rest left.
  const sending = faultOf(sender('tcp', peer.port).send(batch(1_000, 1_000)))
  await expect.poll(() => peer.state.hasEnded).toBe(true)
  peer.state.leave()
  expect(await sending).toBe('reset')
})

describe('a receiver over TLS', () => {
  const tls = (over: Partial<SyslogReceiverOptions>) => receiver({ protocol: 'tls', ...over })

  it('needs a valid certificate with its name from a trusted CA', async () => {
    const faults = []
    for (const given of [
      await authority.issue(['siem.example.org']),
      await authority.issue(['127.0.0.1'], 'expired'),
      await (await createAuthority('Somebody else')).issue(['127.0.0.1']),
    ])
      faults.push(await faultOf(sender('tls', (await tls({ certificate: given })).port).send(batch(1))))
    expect(faults).toEqual(['certificate', 'certificate', 'certificate'])
  })

  it('has to use TLS', async () => {
    const plain = await receiver({ protocol: 'tcp' })
    expect(await faultOf(sender('tls', plain.port).send(batch(1)))).toBe('reset')
    expect(plain.messages).toEqual([])
  })
})

describe('a destination', () => {
  const to = (host: string, fakes: ReturnType<typeof createDestinations> = resolve) =>
    faultOf(
      createSyslogSender({ address: { protocol: 'tcp', host, port: 9 }, ca: [], timeouts, resolve: fakes }).send(
        batch(1),
      ),
    )

  it('is never a metadata service or loopback under another name', async () => {
    expect(await to('169.254.169.254')).toBe('refused')
    expect(await to('::ffff:a9fe:a9fe')).toBe('refused')
    const rebinding = createDestinations([], async () => [{ address: '127.0.0.1', family: 4 }])
    expect(await to('siem.example.org', rebinding)).toBe('refused')
    const nowhere = createDestinations([], async () => Promise.reject(new Error('no such name')))
    expect(await to('siem.example.org', nowhere)).toBe('unresolved')
  })

  it('causes errors that name the configured address and nothing found there', async () => {
    const error = await createSyslogSender({
      address: { protocol: 'tcp', host: '::1', port: 9 },
      ca: [],
      timeouts,
      resolve,
    })
      .send(batch(1))
      .catch((one: unknown) => one)
    expect(error).toBeInstanceOf(SyslogError)
    expect((error as SyslogError).message).toBe(
      '[::1]:9 is unreachable or refuses connections. Check host, port and firewalls.',
    )
  })
})

it('50,000 messages arrive, and use no additional memory while nobody reads them', async () => {
  const messages = batch(50_000, 400)
  const peer = await receiver({ protocol: 'tcp', keep: false })
  await sender('tcp', peer.port, { wholeMs: 30_000 }).send(messages)
  expect(peer.counts.messages).toBe(50_000)

  const silent = await receiver({ protocol: 'tcp', behaviour: 'neverReads' })
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }, 20)
  expect(await faultOf(sender('tcp', silent.port, { wholeMs: 1_000 }).send(messages))).toBe('timeout')
  clearInterval(watch)
  // The batch has 21 MB, and framing it as a whole would need as much again.
  expect(most).toBeLessThan(8e6)
})
