import { expect, it } from 'vitest'
import { glibcFault } from './bootstrap/node.mjs'

it.each([['2.28'], ['2.39'], ['3.0']])('accepts glibc %s', (version) => expect(glibcFault(version)).toBeNull())

it.each([
  ['2.27', /needs glibc 2\.28 or newer, and this system has glibc 2\.27\. Use a newer release/],
  ['1.99', /glibc 1\.99/],
  [undefined, /has another C library\. Use a newer release of the operating system, or the container image\.$/],
])('refuses %s, and says what to do', (version, text) => expect(glibcFault(version)).toMatch(text))
