import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from './config.ts'
import { StartError } from './start-error.ts'

const allow = (text: string): string[] => loadConfig({ PORTCULLIS_OUTBOUND_ALLOW: text }, false).outboundAllow

describe('PORTCULLIS_OUTBOUND_ALLOW', () => {
  it.each([
    ['', []],
    ['127.0.0.0/8', ['127.0.0.0/8']],
    [' 127.0.0.1 , ::1 ', ['127.0.0.1', '::1']],
    ['127.1.2.0/24,::1/128', ['127.1.2.0/24', '::1/128']],
  ])('accepts %j', (text, expected) => {
    expect(allow(text)).toEqual(expected)
  })

  it.each([
    '10.0.0.0/8',
    '169.254.169.254',
    '169.254.0.0/16',
    '0.0.0.0/0',
    '127.0.0.0/7',
    '127.0.0.0/33',
    '127.0.0.0/',
    '127.0.0.0/8/8',
    '127.0.0.0/0x8',
    '127.1',
    'localhost',
    '::/0',
    '::1/127',
    'fe80::1',
    '::1%lo',
    '::ffff:127.0.0.1',
  ])('rejects %j and names it', (text) => {
    const start = () => allow(`127.0.0.1,${text}`)
    expect(start).toThrow(StartError)
    expect(start).toThrow(`not "${text}"`)
  })
})

describe('PORTCULLIS_DRAIN_SECONDS', () => {
  const drain = (text: string): number => loadConfig({ PORTCULLIS_DRAIN_SECONDS: text }, false).drainSeconds

  it('is zero by default, and at most a minute', () => {
    expect([loadConfig({}, false).drainSeconds, drain('0'), drain('5'), drain('60')]).toEqual([0, 0, 5, 60])
  })

  it.each(['', '-1', '61', '1.5', '5s', '0x5'])('refuses %j', (text) => {
    expect(() => drain(text)).toThrow(StartError)
  })
})

describe('secrets in files', () => {
  let dir: string
  const file = (text: string): string => {
    writeFileSync(join(dir, 'secret'), text)
    return join(dir, 'secret')
  }
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'portcullis-config-'))
  })
  afterAll(() => rmSync(dir, { recursive: true }))

  it('are read from the file in <name>_FILE, without the line end', () => {
    const url = 'postgres://portcullis:s3cret@db/portcullis'
    expect(loadConfig({ DATABASE_URL_FILE: file(`${url}\n`) }, false).databaseUrl?.reveal()).toBe(url)
    expect(loadConfig({ NATS_URL_FILE: file('nats://n\n') }, false).natsUrl?.reveal()).toBe('nats://n')
    const password = 'correct horse battery'
    expect(loadConfig({ PORTCULLIS_ADMIN_PASSWORD_FILE: file(password) }, false).adminPassword?.reveal()).toBe(password)
  })

  it.each([
    ['is missing', () => ({ DATABASE_URL_FILE: '/nowhere/secret' }), 'DATABASE_URL_FILE cannot be read'],
    ['is empty', () => ({ DATABASE_URL_FILE: file('\n') }), 'is empty'],
    ['is one of two', () => ({ DATABASE_URL_FILE: file('x'), DATABASE_URL: 'y' }), 'are both set'],
    ['holds a short password', () => ({ PORTCULLIS_ADMIN_PASSWORD_FILE: file('short') }), '12 to 128'],
  ])('are rejected when the file %s', (_what, env, message) => {
    expect(() => loadConfig(env(), false)).toThrow(StartError)
    expect(() => loadConfig(env(), false)).toThrow(message)
  })
})
