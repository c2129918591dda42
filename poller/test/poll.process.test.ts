// Invariant: A polled host gets no password before a person has confirmed its host key; a sign-in with a private
//   key confirms nothing.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Poll,
  type PollResult,
  PollResult as PollResultShape,
  type PollStep,
} from '@portcullis/contract/worker-protocol.ts'
import { POSIX_COMMAND, WINDOWS_COMMAND } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { pollHost } from '../src/poll.ts'
import { knownKeys, startSshPeer } from './ssh-peer.ts'
import { type Sshd, startPeer, startSshd, whyNoPasswords, whyNoSshd } from './sshd.ts'

/** Output of hosts without devices. */
const linuxAnswer = execFileSync('sh', ['-c', POSIX_COMMAND]).toString('latin1')
const windowsAnswer = (devices: unknown[], Host = 'PC-7'): string =>
  `portcullis 1\nWindows\n${JSON.stringify({ Host, Os: 'Windows 11', Version: '10.0', Devices: devices })}\nend\n`

const never = new AbortController().signal
const until = async (isSo: () => boolean): Promise<void> => {
  for (let i = 0; !isSo(); i++) {
    if (i === 500) throw new Error('it did not come to this')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
const limits = { connectMs: 20_000, totalMs: 60_000, outputBytes: 4 * 1024 * 1024 }

describe('polling over real SSH', unless(whyNoSshd), () => {
  let sshd: Sshd
  const peers: Server[] = []
  beforeAll(async () => {
    sshd = await startSshd('127.0.0.1')
    await onceUp({})
  })
  afterAll(() => {
    sshd?.stop()
    for (const peer of peers) peer.close()
  })

  const of = (change: Partial<Poll> = {}): Poll => ({
    id: '0199a0c4-0000-7000-8000-000000000001',
    fence: 1,
    isTest: false,
    host: sshd.host,
    port: sshd.port,
    platform: null,
    userName: sshd.userName,
    password: null,
    privateKey: sshd.privateKey,
    passphrase: null,
    // Only confirmed hosts get a password. A key can be sent before.
    hostKeyFingerprint: change.password == null ? null : (knownKeys.get(change.port ?? sshd.port) ?? null),
    limits,
    ...change,
  })
  const run = async (change: Partial<Poll> = {}, stop = never) => {
    const steps: PollStep[] = []
    const result = await pollHost(of(change), (step) => steps.push(step), stop)
    expect([...Value.Errors(PollResultShape, result)]).toEqual([])
    return { result, steps }
  }
  const failing = async (change: Partial<Poll>): Promise<Pick<PollResult, 'failure' | 'message'>> => {
    const { failure, message } = (await run(change)).result
    return { failure, message }
  }

  /** Retries until the server listens, and returns the result. */
  const onceUp = async (change: Partial<Poll>): ReturnType<typeof failing> => {
    for (let i = 0; ; i++) {
      const answer = await failing(change)
      if (answer.failure !== 'connection-refused' || i === 100) return answer
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  it('reads this machine in one connection, reports each step and returns the host key', async () => {
    const { result, steps } = await run()
    expect(result).toMatchObject({
      id: '0199a0c4-0000-7000-8000-000000000001',
      fence: 1,
      failure: null,
      platform: 'linux',
      hostKeyFingerprint: sshd.fingerprint,
      facts: { enforcement: 'observe', agentVersion: '', address: '127.0.0.1' },
    })
    expect(steps).toEqual(['resolve', 'connect', 'host-key', 'sign-in', 'read', 'understand'])
    expect(result.steps.every((step) => step.ok)).toBe(true)
  })

  it('signs in with a password by both methods, and reports a refusal', unless(whyNoPasswords), async () => {
    const account = { userName: 'portcullis-polled', password: 'päss "w\'ord $x' }
    for (const ways of [
      ['PasswordAuthentication yes', 'KbdInteractiveAuthentication no'],
      ['PasswordAuthentication no', 'KbdInteractiveAuthentication yes', 'UsePAM yes'],
    ]) {
      const server = await startSshd('127.0.0.4', ways, account)
      try {
        const change = { ...account, host: server.host, port: server.port, privateKey: null }
        expect([ways, await onceUp(change)]).toEqual([ways, { failure: null, message: '' }])
        expect(await failing({ ...change, password: 'wrong' })).toEqual({ failure: 'sign-in-refused', message: '' })
      } finally {
        server.stop()
      }
    }
  })

  it('tries the Windows command first on a Windows server, and the other one only without an answer', async () => {
    const answers = await startSshPeer({
      ident: 'OpenSSH_for_Windows_9.5',
      answer: (command) => (command.startsWith('powershell ') ? windowsAnswer([]) : 'not recognized\r\n'),
    })
    const wsl = await startSshPeer({
      ident: 'OpenSSH_for_Windows_9.5',
      answer: (command) => (command.startsWith('sh ') ? linuxAnswer : 'sh: powershell: not found\n'),
    })
    try {
      const change = { host: '127.0.0.1', userName: 'u', password: 'p', privateKey: null }
      expect((await run({ ...change, port: answers.port })).result).toMatchObject({
        failure: null,
        platform: 'windows',
      })
      expect(answers.commands.map((command) => command.split(' ')[0])).toEqual(['powershell'])
      expect((await run({ ...change, port: wsl.port })).result).toMatchObject({ failure: null, platform: 'linux' })
    } finally {
      answers.close()
      wsl.close()
    }
  })

  it('opens two connections to one address at a time, and a stopped poll blocks no other', async () => {
    const peer = await startSshPeer({ answer: () => linuxAnswer, delayMs: 50 })
    try {
      const change = { host: '127.0.0.5', port: peer.port, userName: 'u', password: 'p', privateKey: null }
      const control = new AbortController()
      const stopped = run(change, control.signal)
      const all = Array.from({ length: 8 }, () => run(change))
      control.abort()
      expect((await stopped).result.failure).toBe('stopped')
      for (const one of await Promise.all(all)) expect(one.result.failure).toBe(null)
      expect(peer.most()).toBe(2)
    } finally {
      peer.close()
    }
  })

  it('limits a host that repeats prompts or key exchanges forever, or keeps its side open', async () => {
    const change = { host: '127.0.0.6', userName: 'u', password: 'p', privateKey: null }
    let asked = 0
    const asks = await startSshPeer({
      answer: () => linuxAnswer,
      authenticate: (context) => {
        if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive'])
        const again = (): void => {
          asked++
          context.prompt(
            Array.from({ length: 60 }, () => ({ prompt: 'Password: ', echo: false })),
            again,
          )
        }
        again()
      },
    })
    const rekeys = await startSshPeer({ answer: () => linuxAnswer, rekeys: 20 })
    const stays = await startSshPeer({ answer: () => 'hello\n' })
    try {
      expect((await run({ ...change, port: asks.port })).result).toMatchObject({
        failure: 'sign-in-refused',
        message: 'the host asks for more than a password',
      })
      expect(asked).toBe(1)
      const { result } = await run({ ...change, port: rekeys.port })
      expect(result).toMatchObject({ failure: null })
      expect(result.steps).toHaveLength(6)
      expect((await run({ ...change, port: stays.port })).result.failure).toBe('not-understood')
      await until(() => stays.open() === 0 && asks.open() === 0 && rekeys.open() === 0)
    } finally {
      for (const peer of [asks, rekeys, stays]) peer.close()
    }
  })

  it('sends nothing for polls that were stopped while they waited for a connection', async () => {
    const peer = await startSshPeer({ answer: () => linuxAnswer, delayMs: 200 })
    try {
      const control = new AbortController()
      const change = { host: '127.0.0.7', port: peer.port, userName: 'u', password: 'p', privateKey: null }
      const all = Array.from({ length: 6 }, () => run(change, control.signal))
      await until(() => peer.open() === 2)
      control.abort()
      for (const one of await Promise.all(all)) expect(one.result.failure).toBe('stopped')
      await until(() => peer.open() === 0)
      expect(peer.signIns()).toBeLessThanOrEqual(2)
    } finally {
      peer.close()
    }
  })

  it('connects to no metadata or link-local address, nor to this machine by a foreign name', async () => {
    for (const host of ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', '0.0.0.0', '224.0.0.1'])
      expect([host, (await failing({ host })).failure]).toEqual([host, 'address-refused'])
  })

  it('sends no password to a server whose host key no person has confirmed, and returns its key', async () => {
    const seen: string[] = []
    const logs = await startSshPeer({
      answer: () => '',
      authenticate: (context) => {
        seen.push(context.method)
        if (context.method === 'password') seen.push(context.password)
        if (context.method === 'keyboard-interactive')
          context.prompt([{ prompt: 'Password:', echo: false }], (answers) => {
            seen.push(...answers)
            context.reject()
          })
        else context.reject(['password', 'keyboard-interactive', 'publickey'])
      },
    })
    onTestFinished(logs.close)
    const first = { port: logs.port, password: 'the secret', hostKeyFingerprint: null }
    const unconfirmed = { failure: 'host-key-unconfirmed', hostKeyFingerprint: logs.fingerprint }
    expect((await run({ ...first, privateKey: null })).result).toMatchObject(unconfirmed)
    // The result is the same if the server withholds the password.
    expect((await run({ ...first, privateKey: null, password: null, isPasswordWithheld: true })).result).toMatchObject(
      unconfirmed,
    )
    expect(seen).toEqual([])
    // A private key can be used before, because it reveals nothing.
    expect((await run(first)).result).toMatchObject(unconfirmed)
    expect([seen.includes('publickey'), seen.includes('password'), seen.includes('the secret')]).toEqual([
      true,
      false,
      false,
    ])
    // A key that is only trusted on first use is pinned, but its host gets no password either.
    const firstUse = { ...first, hostKeyFingerprint: logs.fingerprint, isPasswordWithheld: true }
    for (const change of [{}, { privateKey: null }, { password: null }, { privateKey: null, password: null }])
      expect((await run({ ...firstUse, ...change })).result).toMatchObject(unconfirmed)
    expect(seen.filter((one) => one !== 'none' && one !== 'publickey')).toEqual([])
    // A confirmed host gets the password.
    await run({ ...first, privateKey: null, hostKeyFingerprint: logs.fingerprint })
    expect(seen).toContain('the secret')
  })

  it('signs in to a real server with a private key at the first contact, and returns the host key', async () => {
    expect((await run({ password: 'never sent', hostKeyFingerprint: null })).result).toMatchObject({
      failure: null,
      hostKeyFingerprint: sshd.fingerprint,
    })
    expect((await run({ password: 'never sent', privateKey: null, hostKeyFingerprint: null })).result).toMatchObject({
      failure: 'host-key-unconfirmed',
      message: `the host presented ${sshd.fingerprint}`,
      hostKeyFingerprint: sshd.fingerprint,
    })
  })

  it('signs in with an encrypted private key, and reports an unusable one', async () => {
    expect(await failing({ privateKey: sshd.sealedKey, passphrase: 'open sesame' })).toMatchObject({ failure: null })
    expect(await failing({ privateKey: sshd.sealedKey })).toMatchObject({ failure: 'key-unusable' })
    expect(await failing({ privateKey: sshd.sealedKey, passphrase: 'wrong' })).toMatchObject({
      failure: 'key-unusable',
    })
  })

  it('sends nothing to a host with a changed key', async () => {
    const other = await startSshd('127.0.0.2')
    try {
      const answer = await onceUp({ host: other.host, port: other.port, hostKeyFingerprint: sshd.fingerprint })
      expect(answer).toEqual({
        failure: 'host-key-changed',
        message: `expected ${sshd.fingerprint}, the host presented ${other.fingerprint}`,
      })
    } finally {
      other.stop()
    }
    expect(await failing({ hostKeyFingerprint: sshd.fingerprint })).toMatchObject({ failure: null })
  })

  it('reports a different failure for each cause', async () => {
    expect(await failing({ userName: 'nobody-of-this-name', password: 'wrong', privateKey: null })).toEqual({
      failure: 'sign-in-refused',
      message: '',
    })
    expect(await failing({ privateKey: null })).toMatchObject({ failure: 'no-credentials' })
    expect(await failing({ host: 'no-such-host.invalid' })).toMatchObject({ failure: 'name-not-found' })
    expect(await failing({ port: 1 })).toMatchObject({ failure: 'connection-refused' })

    const silent = await startPeer(() => {})
    const resets = await startPeer((socket) => socket.resetAndDestroy())
    const chatty = await startPeer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    peers.push(silent.server, resets.server, chatty.server)
    expect(await failing({ port: silent.port, limits: { ...limits, connectMs: 300 } })).toMatchObject({
      failure: 'connect-timeout',
    })
    expect(await failing({ port: resets.port })).toMatchObject({ failure: 'connection-lost' })
    expect((await failing({ port: chatty.port })).failure).toMatch(/no-common-algorithm|connection-lost/)
  })

  it('limits the time and output of a host, and reports invalid output', async () => {
    for (const [command, failure] of [
      ['yes', 'output-too-large'],
      ['sleep 60', 'read-timeout'],
      ['echo hello', 'not-understood'],
    ] as const) {
      const forced = await startSshd('127.0.0.3', [`ForceCommand ${command}`])
      try {
        const change = {
          host: forced.host,
          port: forced.port,
          privateKey: forced.privateKey,
          platform: 'linux' as const,
          limits: { ...limits, totalMs: command === 'sleep 60' ? 2_000 : 60_000 },
        }
        const answer = await onceUp(change)
        expect([command, answer.failure]).toEqual([command, failure])
      } finally {
        forced.stop()
      }
    }
  })

  it('runs its fixed commands only, whatever a host prints', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-printed-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'made-by-the-host')
    const texts = [
      `$(touch ${file})`,
      `\`touch ${file}\``,
      `'; touch ${file}; '`,
      `" & touch ${file} & "`,
      `\ntouch ${file}\n`,
    ]
    const printed = texts.flatMap((text) => [
      text,
      `portcullis 1\n${text}\nend\n`,
      `portcullis 1\nLinux\nerror ${text}\nend\n`,
      windowsAnswer([{ InstanceId: `USB\\VID_0951&PID_1666\\${text}`, BusReportedDeviceDesc: text }], text),
    ])
    const commands = new Set<string>()
    const platforms = new Set<string | null>()
    const pollTwice = async (answer: string, i: number): Promise<void> => {
      const peer = await startSshPeer({ answer: () => answer })
      onTestFinished(peer.close)
      const change = { host: `127.0.8.${i + 1}`, port: peer.port, userName: 'u', password: 'p', privateKey: null }
      const { platform } = (await run(change)).result
      await run({ ...change, platform })
      platforms.add(platform)
      for (const command of peer.commands) commands.add(command)
    }
    await Promise.all(printed.map(pollTwice))
    expect(commands).toEqual(new Set([POSIX_COMMAND, WINDOWS_COMMAND]))
    expect(platforms).toEqual(new Set([null, 'linux', 'windows']))
    expect(existsSync(file)).toBe(false)
  })

  it('ends at once when it is aborted', async () => {
    const control = new AbortController()
    const silent = await startPeer(() => control.abort())
    peers.push(silent.server)
    expect((await run({ port: silent.port }, control.signal)).result).toMatchObject({ failure: 'stopped' })
  })
})
