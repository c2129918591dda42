import { riskScore, severityOf } from '@portcullis/domain'
import { describe, expect, it } from 'vitest'

describe('severityOf', () => {
  it('is the highest that applies', () => {
    expect(severityOf({})).toBe(10)
    expect(severityOf({ unapproved: true })).toBe(20)
    expect(severityOf({ unapproved: true, vulnerable: true })).toBe(30)
    expect(severityOf({ vulnerable: true, attackTool: 'suspected' })).toBe(40)
    expect(severityOf({ unapproved: true, vulnerable: true, attackTool: 'confirmed' })).toBe(50)
    expect(severityOf({ attackTool: null })).toBe(10)
  })
})

describe('riskScore', () => {
  it('adds points, sorts the factors, and stops at 100', () => {
    const small = { factor: 'uncommon', points: 10, evidence: 'seen on one host' }
    const large = { factor: 'attackTool', points: 60, evidence: 'keyboard with storage' }
    const none = { factor: 'vulnerable', points: 0, evidence: '' }
    expect(riskScore([small, none, large])).toEqual({ score: 70, factors: [large, small] })
    expect(riskScore([large, large, small]).score).toBe(100)
    expect(riskScore([])).toEqual({ score: 0, factors: [] })
  })
})
