/** The measurement of device recognition as a result: every number becomes a figure. */
import type { Finding, Result } from '../../rig/verdict.ts'

const numbersIn = (value: unknown, path: string): Finding[] => {
  if (typeof value === 'number') return [{ what: path, value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => numbersIn(inner, path === '' ? key : `${path}: ${key}`))
}

const lastJson = (output: string): unknown => {
  for (const text of [output, output.trim().split('\n').at(-1) ?? ''])
    try {
      return JSON.parse(text)
    } catch {
      // Other lines may come first.
    }
  return undefined
}

/** Results of the measurement's output. They are information: the measurement sets its bars by its exit code. */
export const devicesResult = (code: number | null, output: string): Result[] => {
  const value = lastJson(output)
  if (Array.isArray(value)) return value as Result[]
  const findings = numbersIn(value, '')
  if (findings.length === 0) return []
  const verdict = code === 0 ? 'measured' : code === 1 ? 'missed' : 'incomplete'
  return [
    { name: 'devices', what: 'Recognition of devices.', verdict, seconds: 0, seed: 0, findings, notRun: [], notes: [] },
  ]
}
