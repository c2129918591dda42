import { describe, expect, it } from 'vitest'
import { asCallFailure, CallFailure, ConsoleRefusal, isOutage, messageOf } from './problem.ts'

/** What Chromium, Firefox, Safari and bundlers say when the server is gone. */
const raw = [
  new TypeError('Failed to fetch'),
  new TypeError('NetworkError when attempting to fetch resource.'),
  new TypeError('Load failed'),
  new TypeError('network error'),
  new TypeError('The network connection was lost.'),
  new TypeError('Error in input stream'),
  new TypeError('Failed to fetch dynamically imported module: https://server/assets/x-1.js'),
  new TypeError('error loading dynamically imported module: https://server/assets/x-1.js'),
  new TypeError('Importing a module script failed.'),
  new Error('Unable to preload CSS for /assets/x-1.css'),
  new Error('Loading chunk 7 failed.'),
  new Error('Loading CSS chunk 7 failed.'),
  new DOMException('A network error occurred.', 'NetworkError'),
  new DOMException('signal timed out', 'TimeoutError'),
]
const browserWords = /fetch|NetworkError|Load failed|input stream|module|preload|chunk|signal|https?:|assets/i

describe('messages of failures', () => {
  it.each(raw.map((failure) => [failure.message, failure] as const))(
    'say that the server is unreachable instead of "%s"',
    (_text, failure) => {
      const { title, detail, cure } = messageOf(failure)
      expect(title).toBe("Can't reach the server")
      expect(`${title} ${detail} ${cure}`).not.toMatch(browserWords)
      expect(isOutage(failure)).toBe(true)
    },
  )

  it('never show the text of an unexpected error', () => {
    for (const failure of [
      new TypeError("Cannot read properties of undefined (reading 'x')"),
      'text',
      { a: 1 },
      null,
    ]) {
      const { title, detail, cure } = messageOf(failure)
      expect(`${title} ${detail} ${cure}`).not.toMatch(/undefined|text|object|null/)
      expect(isOutage(failure)).toBe(false)
    }
  })

  it('show the text of the console and of the server', () => {
    expect(messageOf(new ConsoleRefusal('This file is not a picture.')).detail).toBe('This file is not a picture.')
    expect(messageOf(new CallFailure('conflict', 'Somebody else changed it.')).detail).toBe('Somebody else changed it.')
  })

  it('name a field without the part of the request', () => {
    const refused = new CallFailure('validation_failed', 'query.Query: is wrong. body.name must not be empty.')
    expect(messageOf(refused).detail).toBe('Query: is wrong. name must not be empty.')
  })

  it('count a broken response as an outage, and an incomprehensible one not', () => {
    expect(asCallFailure(new TypeError('network error'))).toMatchObject({ code: 'network' })
    const syntax = new SyntaxError('Unexpected token < in JSON')
    expect(asCallFailure(syntax)).toBe(syntax)
    expect(isOutage(new CallFailure('unavailable', '', { status: 503, retryAfter: 2 }))).toBe(true)
    expect(isOutage(new CallFailure('unreadable', '', { status: 502 }))).toBe(true)
    expect(isOutage(new CallFailure('forbidden', '', { status: 403 }))).toBe(false)
  })
})
