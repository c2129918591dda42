import { describe, expect, it } from 'vitest'
import { ageText, evaluationText, readKnowledgeFile, trustAsked } from './knowledge.ts'

const fingerprint = 'ab'.repeat(32)

describe('knowledge', () => {
  it('refuses files that are not signed before sending anything', () => {
    expect(() => readKnowledgeFile('vid,pid')).toThrow(/not JSON/)
    expect(() => readKnowledgeFile('null')).toThrow(/not a signed knowledge file/)
    expect(() => readKnowledgeFile('{"payload":"{}"}')).toThrow(/signature is missing/)
    expect(readKnowledgeFile('{"payload":"{}","signature":"s"}')).toEqual({ payload: '{}', signature: 's' })
  })

  it('recognises when a key must be confirmed', () => {
    const message = `The file is signed with ${fingerprint}. To trust this key, send the file with trust=${fingerprint}.`
    expect(trustAsked({ code: 'knowledge_key_unknown', message })).toBe(fingerprint)
    expect(trustAsked({ code: 'knowledge_key_refused', message })).toBeNull()
  })

  it('describes its age and the progress of evaluation', () => {
    expect([ageText(0), ageText(1), ageText(1200)]).toEqual([
      'created today',
      'created yesterday',
      'created 1,200 days ago',
    ])
    expect(evaluationText({ designs: 1200, waiting: 200, hosts: 9 })).toBe(
      '1,000 of 1,200 fingerprints evaluated so far.',
    )
    expect(evaluationText({ designs: 1200, waiting: 0, hosts: 9 })).toBe('9 hosts are still getting new verdicts.')
    expect(evaluationText({ designs: 3, waiting: 0, hosts: 0 })).toBe('3 fingerprints are evaluated with this version.')
  })
})
