import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { plainKeyboard } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'
import { systemClock } from '../src/clock.ts'
import { createLog } from '../src/log.ts'
import { createFrameReader, encodeFrame, FrameError, opcodes } from '../src/transport/frames.ts'
import { createTransport, retryAfterOf } from '../src/transport/http.ts'
import { caHashOf, spkiHash } from '../src/transport/tls-pin.ts'
import { createWake } from '../src/transport/wake.ts'
import { certificates } from './certificates.ts'
import { createTree, startAgent, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'

const { ca, server: leaf, otherCa, impostorLeaf } = certificates
const hash = spkiHash(new X509Certificate(ca))
const chain = { key: leaf.key, cert: leaf.cert + ca }

describe('TLS', () => {
  const setUp = async (tls: { key: string; cert: string }, token = `pce_1_secret.${hash}`) => {
    const peer = await startPeer({ tls, token })
    onTestFinished(() => peer.stop())
    const stateDir = temporaryDir()
    const args = [
      '--server',
      peer.url,
      '--token',
      token,
      '--state-dir',
      stateDir,
      '--sysfs-root',
      createTree([plainKeyboard({ portPath: '1-1' })]).root,
    ]
    return { peer, stateDir, args }
  }

  it('uses the hash in a token', () => {
    expect(caHashOf(`pce_1_se-cr_et.${hash}`)).toBe(hash)
    expect(caHashOf('pce_1_secret')).toBeUndefined()
    expect(caHashOf('pce_1_secret.short')).toBeUndefined()
  })

  it('pins the CA of the token and verifies every connection with it', async () => {
    const { peer, stateDir, args } = await setUp(chain)
    expect(await startAgent([...args, '--once']).done).toBeUndefined()
    expect(readFileSync(join(stateDir, 'ca.pem'), 'utf8').trim()).toBe(ca.trim())
    expect(peer.seen.checkIns).toHaveLength(1)
    expect(peer.seen.enrols[0]?.token).toBe(`pce_1_secret.${hash}`)
  })

  it('sends nothing to a server with another CA', async () => {
    const { peer, stateDir, args } = await setUp({ key: leaf.key, cert: impostorLeaf + otherCa })
    expect(await startAgent([...args, '--once']).done).toMatchObject({
      code: 1,
      message: expect.stringContaining('do not match the enrolment token'),
    })
    expect(existsSync(join(stateDir, 'ca.pem'))).toBe(false)
    expect(peer.seen.enrols).toEqual([])
  })

  it('sends nothing to a server that presents the pinned CA with a certificate of another CA', async () => {
    const { peer, args } = await setUp({ key: leaf.key, cert: impostorLeaf + ca })
    const agent = startAgent(args)
    await until('refusal', () => agent.lines.some((line) => line.includes('enrolment_failed')))
    await agent.stop()
    expect(peer.seen.enrols).toEqual([])
  })

  it('sends nothing when a pinned server is replaced', async () => {
    const { peer, args } = await setUp(chain)
    await startAgent([...args, '--once']).done
    const sessions = peer.seen.sessions.length
    if ('setSecureContext' in peer.server) peer.server.setSecureContext({ key: leaf.key, cert: impostorLeaf + otherCa })
    const agent = startAgent(args)
    await until('refusal', () => agent.lines.some((line) => line.includes('check_in_failed')))
    expect(peer.seen.sessions).toHaveLength(sessions)
  })

  describe('a forged certificate with the genuine public key', () => {
    /** Returns the certificate with another name. Its key is genuine and its signature is invalid. */
    const forged = (pem: string): string => {
      const der = Buffer.from(new X509Certificate(pem).raw)
      for (let at = der.indexOf('Test CA'); at >= 0; at = der.indexOf('Test CA', at + 1)) der.write('Fake CA', at)
      return `-----BEGIN CERTIFICATE-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`
    }
    const forgedTls = { key: leaf.key, cert: forged(leaf.cert) + forged(ca) }
    const genuine = (peer: Awaited<ReturnType<typeof startPeer>>) => {
      if ('setSecureContext' in peer.server) peer.server.setSecureContext(chain)
    }
    const pinned = (stateDir: string) => readFileSync(join(stateDir, 'ca.pem'), 'utf8').trim()

    it('presented during the enrolment is replaced when the genuine server answers', async () => {
      expect(spkiHash(new X509Certificate(forged(ca)))).toBe(hash)
      const { peer, stateDir, args } = await setUp(forgedTls)
      const agent = startAgent(args)
      await until('the refusal', () => agent.lines.some((line) => line.includes('"enrol"')))
      expect([pinned(stateDir), peer.seen.enrols]).toEqual([forged(ca).trim(), []])
      genuine(peer)
      await until('a check-in', () => peer.seen.checkIns.length > 0)
      expect(pinned(stateDir)).toBe(ca.trim())
      expect(peer.seen.enrols).toHaveLength(1)
    })

    it('stored by an enrolled agent does not change its identity or key', async () => {
      const { peer, stateDir, args } = await setUp(chain)
      await startAgent([...args, '--once']).done
      const kept = () => ['identity.json', 'key.pem'].map((name) => readFileSync(join(stateDir, name), 'utf8'))
      const before = kept()
      writeFileSync(join(stateDir, 'ca.pem'), forged(ca))
      expect(await startAgent([...args, '--once']).done).toBeUndefined()
      expect([pinned(stateDir), kept()]).toEqual([ca.trim(), before])
      expect([peer.seen.enrols.length, peer.agents.size]).toEqual([1, 1])
    })

    it('presented to an agent with the genuine one replaces nothing', async () => {
      const { peer, stateDir, args } = await setUp(chain)
      await startAgent([...args, '--once']).done
      const sessions = peer.seen.sessions.length
      if ('setSecureContext' in peer.server) peer.server.setSecureContext(forgedTls)
      const agent = startAgent(args)
      await until('the refusal', () => agent.lines.some((line) => line.includes('check_in_failed')))
      expect([pinned(stateDir), peer.seen.sessions.length]).toEqual([ca.trim(), sessions])
      genuine(peer)
      await until('another session', () => peer.seen.sessions.length > sessions)
    })
  })

  it('trusts only the CAs of the system without a hash', async () => {
    const { peer, args } = await setUp(chain, 'pce_1_plain')
    const agent = startAgent(args)
    await until('refusal', () => agent.lines.some((line) => line.includes('enrolment_failed')))
    expect(peer.seen.enrols).toEqual([])
  })
})

describe('HTTP', () => {
  const serve = async (handler: (request: IncomingMessage, socket: Socket) => void, timeoutMs = 30_000) => {
    const server = createServer()
    const sockets = new Set<Socket>()
    server.on('connection', (socket) => sockets.add(socket))
    server.on('request', (request, response) => {
      handler(request, request.socket)
      response.socket?.on('error', () => {})
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const transport = createTransport({ server: url, ca: undefined, timeoutMs, now: () => 0 })
    onTestFinished(transport.close)
    return { transport, sockets, post: () => transport.post('/x', '{}', 'token', new AbortController().signal) }
  }
  const answer = (socket: Socket, head: string, body = '') =>
    socket.write(`HTTP/1.1 ${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)

  it('keeps one connection alive and returns its local address', async () => {
    const { transport, sockets, post } = await serve((_, socket) => answer(socket, '200 OK', '{"a":1}'))
    expect(await post()).toEqual({ status: 200, body: { a: 1 }, text: '{"a":1}' })
    await post()
    expect(sockets.size).toBe(1)
    expect(transport.localAddress()).toBe('127.0.0.1')
  })

  it('retries at once if the server closed the idle connection', async () => {
    let count = 0
    const { post } = await serve((_, socket) => {
      if (++count === 2) socket.resetAndDestroy()
      else answer(socket, '200 OK', '{}')
    })
    await post()
    expect(await post()).toMatchObject({ status: 200 })
    expect(count).toBe(3)
  })

  it('fails for a server that does not answer, answers too slowly, stops early or sends too much', async () => {
    await expect((await serve(() => {}, 300)).post()).rejects.toThrow('the server did not answer within 0.3 s')
    const drip = await serve((_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
      socket.on('error', () => {})
    }, 300)
    await expect(drip.post()).rejects.toThrow('the server did not answer within')
    const half = await serve((_, socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf'))
    await expect(half.post()).rejects.toThrow()
    const flood = await serve((_, socket) => {
      socket.on('error', () => {})
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(9_000_000)}`)
    })
    await expect(flood.post()).rejects.toThrow('too long')
  })

  it('parses Retry-After as seconds and as a date, and limits it', () => {
    expect(retryAfterOf('120', 0)).toBe(120_000)
    expect(retryAfterOf(new Date(5000).toUTCString(), 1000)).toBe(4000)
    expect(retryAfterOf(new Date(5000).toUTCString(), 9000)).toBe(0)
    expect(retryAfterOf('99999999', 0)).toBe(3_600_000)
    expect(retryAfterOf('soon', 0)).toBeUndefined()
    expect(retryAfterOf(undefined, 0)).toBeUndefined()
  })
})

describe('wake socket', () => {
  const setUp = async (pingMs = 60_000) => {
    const http = createServer()
    const sockets = new WebSocketServer({ noServer: true })
    const tokens: (string | undefined)[] = []
    let refuse = 0
    http.on('upgrade', (request, socket, head) => {
      tokens.push(request.headers.authorization)
      if (refuse-- > 0) return void socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n')
      sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client))
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    let wakes = 0
    const server = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
    const transport = createTransport({ server, ca: undefined, now: () => 0 })
    const log = createLog({ clock: systemClock, level: 'error', write: () => {} })
    const wake = createWake({ transport, log, onWake: () => wakes++, backoff: { minMs: 10, maxMs: 20 }, pingMs })
    onTestFinished(() => {
      wake.stop()
      for (const client of sockets.clients) client.terminate()
      http.close()
    })
    return { sockets, wake, tokens, wakes: () => wakes, refuse: (times: number) => (refuse = times) }
  }

  it('forwards "check-in" and nothing else, and answers pings', async () => {
    const { sockets, wake, tokens, wakes } = await setUp()
    wake.useToken('t1')
    await until('connected', () => sockets.clients.size === 1)
    const [client] = sockets.clients
    let pong = ''
    client?.on('pong', (data) => (pong = data.toString()))
    client?.send('something else')
    client?.send('check-in')
    client?.ping('echo')
    client?.send('check-in')
    await until('woken', () => wakes() === 2)
    await until('pong', () => pong === 'echo')
    expect(tokens).toEqual(['Bearer t1'])
  })

  it('reconnects after a close, a refusal, a too long frame and a dead connection', async () => {
    const { sockets, wake, tokens, wakes, refuse } = await setUp(30)
    wake.useToken('t1')
    await until('first', () => tokens.length === 1 && sockets.clients.size === 1)
    refuse(2)
    for (const client of sockets.clients) client.close()
    await until('back after close and two refusals', () => tokens.length === 4 && sockets.clients.size === 1)
    for (const client of sockets.clients) client.send('x'.repeat(200))
    await until('back after a long frame', () => tokens.length === 5 && sockets.clients.size === 1)
    // The peer stops answering pings.
    for (const client of sockets.clients) client.pause()
    await until('back after silence', () => tokens.length === 6)
    for (const client of sockets.clients) if (!client.isPaused) client.send('check-in')
    await until('woken', () => wakes() === 1)
  })

  it('uses the newest token', async () => {
    const { sockets, wake, tokens } = await setUp()
    wake.useToken('t1')
    await until('first', () => sockets.clients.size === 1)
    wake.useToken('t2')
    for (const client of sockets.clients) client.close()
    await until('second', () => tokens.length === 2)
    expect(tokens).toEqual(['Bearer t1', 'Bearer t2'])
  })

  it('parses frames however the stream is split, and refuses invalid ones', () => {
    const unmasked = (opcode: number, text: string) =>
      Buffer.concat([Buffer.from([0x80 | opcode, text.length]), Buffer.from(text)])
    const stream = Buffer.concat([
      unmasked(opcodes.text, 'check-in'),
      unmasked(opcodes.ping, ''),
      unmasked(opcodes.close, 'ab'),
    ])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 20 }), (cuts) => {
        const reader = createFrameReader()
        const frames = []
        let rest = stream
        for (const cut of [...cuts, stream.length]) {
          frames.push(...reader.push(rest.subarray(0, cut)))
          rest = rest.subarray(cut)
        }
        expect(frames.map((frame) => [frame.opcode, frame.payload.toString()])).toEqual([
          [1, 'check-in'],
          [9, ''],
          [8, 'ab'],
        ])
      }),
    )
    for (const bad of [
      Buffer.from([0x01, 0]),
      Buffer.from([0xc1, 0]),
      Buffer.from([0x81, 126, 1, 0]),
      encodeFrame(opcodes.text, Buffer.from('x')),
    ]) {
      expect(() => createFrameReader().push(bad)).toThrow(FrameError)
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          createFrameReader().push(Buffer.from(bytes))
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError)
        }
      }),
    )
  })
})
