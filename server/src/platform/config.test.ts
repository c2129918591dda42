import { describe, expect, it } from 'vitest'
import { loadConfig } from './config.ts'
import { StartError } from './start-error.ts'

const allow = (text: string): string[] => loadConfig({ PORTCULLIS_OUTBOUND_ALLOW: text }, false).outboundAllow

describe('PORTCULLIS_OUTBOUND_ALLOW', () => {
  it.each([
    ['', []],
    ['127.0.0.0/8', ['127.0.0.0/8']],
    [' 127.0.0.1 , ::1 ', ['127.0.0.1', '::1']],
    ['127.1.2.0/24,::1/128', ['127.1.2.0/24', '::1/128']],
  ])('takes %j', (text, expected) => {
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
  ])('refuses %j, and names it', (text) => {
    const start = () => allow(`127.0.0.1,${text}`)
    expect(start).toThrow(StartError)
    expect(start).toThrow(`not "${text}"`)
  })
})

describe('PORTCULLIS_DRAIN_SECONDS', () => {
  const drain = (text: string): number => loadConfig({ PORTCULLIS_DRAIN_SECONDS: text }, false).drainSeconds

  it('is none, or up to a minute', () => {
    expect([loadConfig({}, false).drainSeconds, drain('0'), drain('5'), drain('60')]).toEqual([0, 0, 5, 60])
  })

  it.each(['', '-1', '61', '1.5', '5s', '0x5'])('refuses %j', (text) => {
    expect(() => drain(text)).toThrow(StartError)
  })
})
