import { expect, it } from 'vitest'
import { isForbiddenAddress, isLoopback, isSpelledLoopback } from '../src/index.ts'

it.each([
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  'fe80::1%eth0',
  'FE80::1',
  '0.0.0.0',
  '::',
  '0::0',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  'ff02::1',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd00:0ec2:0:0::254',
  'not an address',
])('never connects to %s', (address) => {
  expect(isForbiddenAddress(address)).toBe(true)
})

it.each(['10.0.0.1', '192.168.1.1', '172.16.0.1', '8.8.8.8', '2001:db8::1', 'fd12::1', '127.0.0.1', '::1'])(
  'may connect to %s',
  (address) => {
    expect(isForbiddenAddress(address)).toBe(false)
  },
)

it('recognises loopback addresses and explicit names of this machine', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '0:0::1'].map(isLoopback)).toEqual(Array(5).fill(true))
  expect(['10.0.0.1', '::2', 'localhost'].map(isLoopback)).toEqual([false, false, false])
  expect(['localhost', 'LOCALHOST.', '127.0.0.2', '::1', 'evil.example.org'].map(isSpelledLoopback)).toEqual([
    true,
    true,
    true,
    true,
    false,
  ])
})
