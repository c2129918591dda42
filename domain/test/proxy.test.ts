import { describe, expect, it } from 'vitest'
import { isProxyException, issuerNameOf, proxyExceptions, proxyFaultOf, splitProxyExceptions } from '../src/index.ts'

describe('exceptions of a proxy', () => {
  const list = splitProxyExceptions(
    'intern.example, .corp.example *.lan\n10.0.0.0/8,192.0.2.7:8443 fd00::/8 [2001:db8::1]:443',
  )
  const exceptions = proxyExceptions(list)
  it.each([
    ['intern.example', 443, true],
    ['INTERN.example.', 443, true],
    ['a.intern.example', 443, true],
    ['notintern.example', 443, false],
    ['corp.example', 443, true],
    ['x.y.corp.example', 443, true],
    ['host.lan', 443, true],
    ['10.200.0.1', 443, true],
    ['11.0.0.1', 443, false],
    ['192.0.2.7', 8443, true],
    ['192.0.2.7', 443, false],
    ['[fd00::1]', 443, true],
    ['2001:db8::1', 443, true],
    ['[2001:db8::1]', 444, false],
    ['10.example', 443, false],
  ])('%s:%d → %s', (host, port, isException) => expect(exceptions.has(host, port)).toBe(isException))

  it('accept * for every host', () => expect(proxyExceptions(['*']).has('a.example', 1)).toBe(true))

  it.each([
    '',
    'a b',
    '10.0.0.0/33',
    '10.0.0.0/',
    'host:0',
    'host:70000',
    'a..',
    'a$b',
    '[::1',
    '[host]',
    'fe80::1%eth0',
    '*a',
    '/8',
  ])('reject %j', (text) => expect([isProxyException(text), text]).toEqual([false, text]))
})

describe('answers of a proxy', () => {
  it.each([
    [407, 'Basic realm="x"', false, 'signIn'],
    [407, '', false, 'signIn'],
    [407, 'Negotiate, Basic realm="x"', true, 'signInRefused'],
    [407, 'NTLM', true, 'signInForeign'],
    [407, 'Negotiate, NTLM', false, 'signInForeign'],
    [403, '', false, 'denied'],
    [504, '', false, 'away'],
    [301, '', false, 'other'],
  ] as const)('%d %j → %s', (status, methods, hasCredentials, fault) =>
    expect(proxyFaultOf(status, methods, hasCredentials)).toBe(fault),
  )
})

describe('the issuer of a certificate', () => {
  it('is one short, clean line', () => {
    expect(issuerNameOf('C=DE\nO=Example Corp\nCN=Example Proxy CA')).toBe('Example Proxy CA')
    expect(issuerNameOf('O=Example Corp')).toBe('Example Corp')
    expect(issuerNameOf('')).toBe('unknown')
    expect(issuerNameOf('CN=\u202e"<b>\u0007\u001b[31mred')).toBe('b [31mred')
    expect(issuerNameOf(`CN=${'x'.repeat(5000)}`)).toHaveLength(80)
  })
})
