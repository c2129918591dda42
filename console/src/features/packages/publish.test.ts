import { describe, expect, it } from 'vitest'
import { publishCommands } from './publish.ts'

describe('how a build is published', () => {
  it('begins with a key and its trust, the first time only', () => {
    const first = publishCommands('https://usb.example.org', true).map(({ command }) => command)
    expect(first).toHaveLength(3)
    expect(first[2]).toMatch(/--server https:\/\/usb\.example\.org .*--trust FINGERPRINT$/)
    const later = publishCommands('https://usb.example.org', false).map(({ command }) => command)
    expect(later).toHaveLength(2)
    expect(later.join()).not.toContain('--trust')
  })
})
