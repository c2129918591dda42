import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { windowsHostsUnverified, windowsSteps } from '@portcullis/contract/windows-steps.ts'
import type { WindowsVerification } from '@portcullis/contract/windows-verification.ts'
import { describe, expect, it } from 'vitest'
import {
  createVerificationFile,
  evaluateChange,
  isSignedVerification,
  majorBuildOf,
  refuseArming,
  unknownBuild,
  type WindowsCandidate,
} from '../src/index.ts'

/** A number below `limit` that depends only on the seed. */
const pick = (seed: string, limit: number): number => createHash('sha256').update(seed).digest().readUInt32BE() % limit

describe('refuseArming', () => {
  it('never lets an unverified build exceed the limit, counting hosts of unknown build', () => {
    const builds = ['19045', '22631', '26100', unknownBuild]
    const verified = new Set(['26100'])
    let refusals = 0
    for (let seed = 0; seed < 500; seed++) {
      const candidates: WindowsCandidate[] = Array.from({ length: 30 }, (_, i) => ({
        agentId: String(i),
        build: builds[pick(`${seed} ${i}`, builds.length)] as string,
        isCounted: false,
      }))
      const counted = new Map(builds.map((build) => [build, pick(`${seed} ${build}`, 3)]))
      const refused = refuseArming({ isEnabled: true, verified, counted }, candidates)
      refusals += refused.size
      const armedOf = (build: string): number =>
        (counted.get(build) ?? 0) + candidates.filter((one) => one.build === build && !refused.has(one.agentId)).length
      for (const build of ['19045', '22631']) {
        const before = (counted.get(build) ?? 0) + (counted.get(unknownBuild) ?? 0)
        expect(armedOf(build) + armedOf(unknownBuild), `seed ${seed}`).toBeLessThanOrEqual(
          Math.max(windowsHostsUnverified, before),
        )
      }
      expect(candidates.some(({ build, agentId }) => verified.has(build) && refused.has(agentId))).toBe(false)
    }
    expect(refusals).toBeGreaterThan(1_000)
  })

  it('refuses every host while the preview is off, even one that already counts', () => {
    const state = { isEnabled: false, verified: new Set(['22631']), counted: new Map() }
    expect([...refuseArming(state, [{ agentId: 'a', build: '22631', isCounted: true }])]).toEqual([
      ['a', 'windows_preview_off'],
    ])
  })

  it('counts by the third number of the build, without leading zeros', () => {
    expect(['10.0.22631.4317', '10.0.022631.1', '10.0.0.1', '10'].map(majorBuildOf)).toEqual([
      '22631',
      '22631',
      '0',
      unknownBuild,
    ])
  })
})

describe('a verification file', () => {
  const report: WindowsVerification = {
    format: 'portcullis-windows-verification-1',
    agentId: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f',
    osBuild: '10.0.22631.4317',
    edition: 'Windows 11 Pro',
    agentVersion: '1.0.0',
    createdAt: '2031-05-01T00:00:00.000Z',
    checks: windowsSteps.map(({ id }) => ({ id, result: 'passed', detail: '' })),
  }

  it.each([
    ['Ed25519', generateKeyPairSync('ed25519'), null],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sha256'],
  ] as const)('is bound to its %s key and its exact text', (_name, { privateKey, publicKey }, algorithm) => {
    const key = publicKey.export({ type: 'spki', format: 'der' })
    const file = createVerificationFile(report, (text) =>
      sign(algorithm, Buffer.from(text), privateKey).toString('base64'),
    )
    expect(isSignedVerification(file, key)).toBe(true)
    expect(isSignedVerification({ ...file, payload: `${file.payload} ` }, key)).toBe(false)
    expect(
      isSignedVerification({ ...file, signature: file.signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')) }, key),
    ).toBe(false)
    const bare = sign(algorithm, Buffer.from(file.payload), privateKey).toString('base64')
    expect(isSignedVerification({ ...file, signature: bare }, key)).toBe(false)
    expect(isSignedVerification(file, Buffer.from('no key'))).toBe(false)
  })

  it('needs a second approver, unless the gate is switched off', () => {
    const state = { isLatched: true, limit: 100, released: 0, allowed: 0 }
    const evaluate = (change: object) =>
      evaluateChange({ ...state, ...change }, { isApiToken: false }, { kind: 'verification' })
    expect([evaluate({}), evaluate({ limit: null }), evaluate({ isLatched: false })]).toEqual([
      'approver',
      'allow',
      'allow',
    ])
  })
})
