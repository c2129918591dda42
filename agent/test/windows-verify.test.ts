import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { windowsSteps } from '@portcullis/contract/windows-steps.ts'
import { WindowsVerification, WindowsVerificationFile } from '@portcullis/contract/windows-verification.ts'
import { isSignedVerification } from '@portcullis/domain'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { windowsScan } from '../src/platform/windows/inventory.ts'
import {
  answerVerification,
  type ChecksDeps,
  requestVerification,
  runChecks,
  verificationResult,
} from '../src/platform/windows/verify.ts'
import { temporaryDir } from './harness.ts'
import { hubDataFor, windowsNodes } from './windows-nodes.ts'

const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })

const devicesOf = (hasHub: boolean) => {
  const all = [keyboard, stick]
  const nodes = all.flatMap((report) => windowsNodes(report))
  const { devices } = windowsScan(nodes, (_, port) => {
    const report = all.find(({ portPath }) => portPath === `1-${port}`)
    return hasHub && report ? hubDataFor(report) : undefined
  })
  return [...devices.values()]
}

const host = (change: Partial<ChecksDeps> = {}): ChecksDeps => ({
  unsupported: () => undefined,
  serviceFindings: () => [],
  checkStateDir: () => undefined,
  devices: () => devicesOf(true),
  ...change,
})

const resultsOf = (deps: ChecksDeps) => new Map(runChecks(deps).map(({ id, result }) => [id as string, result]))

describe('the verification of a Windows host', () => {
  it('performs the steps that a program can perform, and leaves the others to a person', () => {
    const results = resultsOf(host())
    expect([...results.keys()]).toEqual(windowsSteps.map(({ id }) => id))
    expect([...results].filter(([, result]) => result === 'passed').map(([id]) => id)).toEqual([
      ...['edition', 'image-path', 'state-acl', 'hub-descriptors', 'keyboard-ids'],
    ])
    expect([...results.values()]).not.toContain('failed')
  })

  it.each<[string, Partial<ChecksDeps>]>([
    ['edition', { unsupported: () => 'Windows Home has no such restrictions.' }],
    ['image-path', { serviceFindings: () => [{ code: 'image_path_unquoted', message: 'unquoted' }] }],
    [
      'state-acl',
      {
        checkStateDir() {
          throw new Error('other users have access')
        },
      },
    ],
    ['hub-descriptors', { devices: () => devicesOf(false) }],
    ['keyboard-ids', { devices: () => devicesOf(true).map((device) => ({ ...device, isKeyboard: false })) }],
  ])('fails the step %s with what it saw', (id, change) => {
    const checks = runChecks(host(change))
    expect(checks.find((check) => check.id === id)).toMatchObject({
      result: 'failed',
      detail: expect.stringMatching(/./),
    })
  })

  it('is a valid file, signed by the key of the agent, and written only on request', () => {
    const stateDir = temporaryDir()
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const deps = {
      ...host(),
      ...{ stateDir, agentVersion: '1.2.3', now: () => Date.UTC(2026, 0, 2) },
      signer: {
        agentId: '11111111-2222-4333-8444-555555555555',
        sign: (text: string) => sign(null, Buffer.from(text), privateKey).toString('base64'),
      },
      facts: () => ({ osName: 'Windows 11 Pro', osBuild: '10.0.22631.4317' }),
    }
    answerVerification(deps)
    expect(verificationResult(stateDir)).toBeUndefined()
    requestVerification(stateDir)
    answerVerification(deps)
    const file = JSON.parse(verificationResult(stateDir) ?? '') as WindowsVerificationFile
    expect(Value.Check(WindowsVerificationFile, file)).toBe(true)
    expect(Value.Check(WindowsVerification, JSON.parse(file.payload))).toBe(true)
    expect(isSignedVerification(file, publicKey.export({ type: 'spki', format: 'der' }))).toBe(true)
    expect(() => readFileSync(join(stateDir, 'verify'))).toThrow('ENOENT')
  })
})
