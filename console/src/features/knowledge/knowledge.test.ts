import { describe, expect, it } from 'vitest'
import { ageText, judgingText, readKnowledgeFile, trustAsked } from './knowledge.ts'

const fingerprint = 'ab'.repeat(32)

describe('knowledge', () => {
  it('refuses what is no signed file before anything is sent', () => {
    expect(() => readKnowledgeFile('vid,pid')).toThrow(/not JSON/)
    expect(() => readKnowledgeFile('null')).toThrow(/no signed knowledge file/)
    expect(() => readKnowledgeFile('{"payload":"{}"}')).toThrow(/no signature/)
    expect(readKnowledgeFile('{"payload":"{}","signature":"s"}')).toEqual({ payload: '{}', signature: 's' })
  })

  it('knows when a key is to be confirmed', () => {
    const message = `The file is signed by ${fingerprint}: send it with trust=${fingerprint} to pin that key.`
    expect(trustAsked({ code: 'knowledge_key_unknown', message })).toBe(fingerprint)
    expect(trustAsked({ code: 'knowledge_key_refused', message })).toBeNull()
  })

  it('tells its age and how far the judging is', () => {
    expect([ageText(0), ageText(1), ageText(1200)]).toEqual(['made today', 'made yesterday', 'made 1,200 days ago'])
    expect(judgingText({ designs: 1200, waiting: 200, hosts: 9 })).toBe(
      '1,000 of 1,200 designs of devices are judged by it so far.',
    )
    expect(judgingText({ designs: 1200, waiting: 0, hosts: 9 })).toBe('9 hosts still get their new verdict.')
    expect(judgingText({ designs: 3, waiting: 0, hosts: 0 })).toBe('All 3 designs of devices are judged by it.')
  })
})
