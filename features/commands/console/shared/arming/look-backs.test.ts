import { describe, expect, it } from 'vitest'
import { lookBacks } from './look-backs.ts'

describe('lookBacks', () => {
  it('queries each of a few named hosts, a tag, or all hosts', () => {
    expect(lookBacks({ uuids: ['a', 'b'] })).toEqual([{ hostUuid: 'a' }, { hostUuid: 'b' }])
    expect(lookBacks({ filter: { Hashtags: 'kiosk,till' } })).toEqual([{ hashtags: 'kiosk,till' }])
    expect(lookBacks({ filter: {} })).toEqual([{}])
  })

  it('returns null for many named hosts and for other filters', () => {
    expect(lookBacks({ uuids: ['a', 'b', 'c', 'd', 'e', 'f'] })).toBeNull()
    expect(lookBacks({ filter: { Hashtags: 'kiosk', OsVersion: 'Debian' } })).toBeNull()
    expect(lookBacks({ filter: { OsVersion: 'Debian' } })).toBeNull()
  })
})
