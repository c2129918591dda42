/** The verification of Windows enforcement on a real host (docs/guide/windows-verification.md). */
import { join } from 'node:path'
import { type WindowsStepId, type WindowsStepResult, windowsSteps } from '@portcullis/contract/agent-protocol.ts'
import type { WindowsVerification } from '@portcullis/contract/windows-verification.ts'
import { createVerificationFile, interfaceCode, isSynthetic, parseReport } from '@portcullis/domain'
import { cutText } from '../../collectors/text.ts'
import { messageOf } from '../../exit.ts'
import { readIfThere, removeIfThere, writeDurable } from '../../files.ts'
import type { Signer } from '../platform.ts'
import type { WindowsDevice } from './inventory.ts'
import type { ServiceFinding } from './service-check.ts'

/** The result of a step. Undefined if the step cannot be performed on this host. */
type Outcome = { result: Extract<WindowsStepResult, 'passed' | 'failed'>; detail: string } | undefined

export interface ChecksDeps {
  /** Returns why this Windows cannot enforce; undefined if its edition and build can. */
  unsupported: () => string | undefined
  serviceFindings: () => ServiceFinding[]
  /** @throws an error with the reason if other users have access to the state directory */
  checkStateDir: () => void
  devices: () => WindowsDevice[]
}

/** CM_PROB_FAILED_INSTALL and CM_PROB_NOT_CONFIGURED: Windows has no driver for the device. */
const WITHOUT_DRIVER: ReadonlySet<number> = new Set([28, 1])
const KEYBOARD_INTERFACE = '03:01:01'
const MAX_DETAIL = 500

const passed = (detail: string): Outcome => ({ result: 'passed', detail })
const failed = (detail: string): Outcome => ({ result: 'failed', detail })

/** Passes if all devices have a property. Names the others. */
const each = (devices: readonly WindowsDevice[], what: string, has: (device: WindowsDevice) => boolean): Outcome => {
  if (devices.length === 0) return undefined
  const without = devices.filter((device) => !has(device))
  return without.length === 0
    ? passed(`All ${devices.length} devices have ${what}.`)
    : failed(
        `${without.length} of ${devices.length} devices lack ${what}. First: ${without[0]?.instanceId ?? 'unknown'}.`,
      )
}

const hasDescriptors = ({ report }: WindowsDevice): boolean => !isSynthetic(parseReport(report))
const isKeyboardByDescriptors = (device: WindowsDevice): boolean =>
  hasDescriptors(device) &&
  parseReport(device.report).configurations.some(({ interfaces }) =>
    interfaces.some((one) => interfaceCode(one) === KEYBOARD_INTERFACE),
  )

/** The steps that a program can perform without changing the host. A person must perform the others. */
const steps: Partial<Record<WindowsStepId, (deps: ChecksDeps) => Outcome>> = {
  edition({ unsupported }) {
    const reason = unsupported()
    return reason === undefined ? passed('The edition and build are supported.') : failed(reason)
  },
  'image-path'({ serviceFindings }) {
    const finding = serviceFindings().find(({ code }) => code.startsWith('image_path') || code.startsWith('service_'))
    return finding === undefined ? passed('The service is as installed.') : failed(finding.message)
  },
  'state-acl'({ checkStateDir }) {
    checkStateDir()
    return passed('Only SYSTEM and Administrators have access.')
  },
  'hub-descriptors': ({ devices }) =>
    each(
      devices().filter(({ problemCode }) => problemCode === undefined),
      'descriptors from the hub',
      hasDescriptors,
    ),
  'hub-descriptors-without-driver': ({ devices }) =>
    each(
      devices().filter(({ problemCode }) => problemCode !== undefined && WITHOUT_DRIVER.has(problemCode)),
      'descriptors from the hub',
      hasDescriptors,
    ),
  'keyboard-ids': ({ devices }) =>
    each(
      devices().filter(isKeyboardByDescriptors),
      'a HID function with the hardware ID of a keyboard',
      (device) => device.isKeyboard,
    ),
}

/** Performs the steps and returns all twenty. A step that throws has failed. */
export const runChecks = (deps: ChecksDeps): WindowsVerification['checks'] =>
  windowsSteps.map(({ id }) => {
    let outcome: Outcome
    try {
      outcome = steps[id]?.(deps)
    } catch (error) {
      outcome = failed(messageOf(error))
    }
    return outcome === undefined
      ? { id, result: 'not-performed', detail: '' }
      : { id, result: outcome.result, detail: cutText(outcome.detail, MAX_DETAIL) }
  })

const requestPath = (stateDir: string): string => join(stateDir, 'verify')
const resultPath = (stateDir: string): string => join(stateDir, 'verification.json')

/** Asks the service to verify this host, because only its account can open the signing key. */
export const requestVerification = (stateDir: string): void => {
  removeIfThere(resultPath(stateDir))
  writeDurable(requestPath(stateDir), '')
}

/** Returns the file that the service wrote. Undefined until then. */
export const verificationResult = (stateDir: string): string | undefined => readIfThere(resultPath(stateDir))

export interface VerificationDeps extends ChecksDeps, Pick<WindowsVerification, 'agentVersion'> {
  stateDir: string
  signer: Signer
  facts: () => { osName: string; osBuild?: string }
  now: () => number
}

/** Writes the verification file if an administrator asked for it. */
export const answerVerification = (deps: VerificationDeps): void => {
  const { stateDir, signer, agentVersion } = deps
  if (readIfThere(requestPath(stateDir)) === undefined) return
  removeIfThere(requestPath(stateDir))
  const { osName, osBuild = '' } = deps.facts()
  const verification: WindowsVerification = {
    format: 'portcullis-windows-verification-1',
    agentId: signer.agentId,
    osBuild,
    edition: cutText(osName, 120),
    agentVersion: cutText(agentVersion, 64),
    createdAt: new Date(deps.now()).toISOString(),
    checks: runChecks(deps),
  }
  writeDurable(resultPath(stateDir), `${JSON.stringify(createVerificationFile(verification, signer.sign), null, 2)}\n`)
}
