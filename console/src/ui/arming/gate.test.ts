import { describe, expect, it } from 'vitest'
import { lookBacks } from './gate.ts'

describe('lookBacks', () => {
  it('looks at each of a few named hosts, at a tag, or at all', () => {
    expect(lookBacks({ uuids: ['a', 'b'] })).toEqual([{ hostUuid: 'a' }, { hostUuid: 'b' }])
    expect(lookBacks({ filter: { Hashtags: 'kiosk,till' } })).toEqual([{ hashtags: 'kiosk,till' }])
    expect(lookBacks({ filter: {} })).toEqual([{}])
  })

  it('knows nothing of many named hosts or another filter, rather than something wrong', () => {
    expect(lookBacks({ uuids: ['a', 'b', 'c', 'd', 'e', 'f'] })).toBeNull()
    expect(lookBacks({ filter: { Hashtags: 'kiosk', OsVersion: 'Debian' } })).toBeNull()
    expect(lookBacks({ filter: { OsVersion: 'Debian' } })).toBeNull()
  })
})
