import { ConsoleRefusal } from '@portcullis/platform/console/lib/problem.ts'
import { type WindowsStepId, type WindowsVerificationFile, windowsSteps } from '#features/contract.ts'
import { strings } from './strings.ts'

/** A chosen verification file, with what a person must know to import it. */
export interface ChosenVerification {
  file: WindowsVerificationFile
  build: string
  passed: number
  failed: readonly WindowsStepId[]
  /** Steps that the person must confirm. */
  open: readonly WindowsStepId[]
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Reads a chosen file. The server checks its content and signature. */
export const readVerification = (text: string): ChosenVerification => {
  try {
    const file: unknown = JSON.parse(text)
    if (!isRecord(file) || typeof file.payload !== 'string' || typeof file.signature !== 'string')
      throw new Error('shape')
    const payload: unknown = JSON.parse(file.payload)
    if (!isRecord(payload) || typeof payload.osBuild !== 'string' || !Array.isArray(payload.checks))
      throw new Error('shape')
    const results = new Map<unknown, unknown>(
      payload.checks.map((check: unknown) => (isRecord(check) ? [check.id, check.result] : [undefined, undefined])),
    )
    const withResult = (result: string): WindowsStepId[] =>
      windowsSteps.map(({ id }) => id).filter((id) => results.get(id) === result)
    return {
      file: { payload: file.payload, signature: file.signature },
      build: payload.osBuild,
      passed: withResult('passed').length,
      failed: withResult('failed'),
      open: withResult('not-performed'),
    }
  } catch {
    throw new ConsoleRefusal(strings.windowsNotVerification)
  }
}

/** Returns the title of a step. */
export const stepTitle = (id: string): string => windowsSteps.find((step) => step.id === id)?.title ?? id
