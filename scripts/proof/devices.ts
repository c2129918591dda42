/** Converts the measurement of device recognition to results: numbers and lengths of lists become figures. */

import { type Finding, type Result, verdictOf } from '../../rig/verdict.ts'
import { deviceBars } from '../devices/bars.ts'

const spaced = (name: string): string => name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const figuresIn = (value: unknown, path: string): Finding[] => {
  if (typeof value === 'number') return [{ what: path, value }]
  if (Array.isArray(value)) return [{ what: path, value: value.length }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    // The length of this list is a separate figure.
    key === 'which' ? [] : figuresIn(inner, [path, spaced(key)].filter((one) => one !== '').join(': ')),
  )
}

const textsIn = (value: unknown, path: string): string[] => {
  if (Array.isArray(value)) return value.map((one) => `${path}: ${one}`)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, key === 'which' ? path : spaced(key)))
}

const parsed = (output: string): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(output) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Names of the results of a complete measurement. */
export const deviceSets = ['fixtures']

/** Parses the output of the measurement. It is incomplete if it lacks a figure that has a bar. */
export const devicesResult = (code: number | null, output: string): Result[] => {
  const value = parsed(output)
  if (value === undefined) return []
  const findings = figuresIn(value.fixtures, '').map((one) => ({
    ...one,
    ...deviceBars.find(({ what }) => what === one.what),
  }))
  const absent = deviceBars.filter(({ what }) => !findings.some((one) => one.what === what))
  const notRun =
    code === 0 && findings.length > 0
      ? absent.map(({ what }) => `fixtures: the figure "${what}" is missing`)
      : ['fixtures: not measured']
  return [
    {
      name: 'fixtures',
      what: 'Devices described by our own fixtures: ordinary devices and attack tools.',
      verdict: verdictOf({ findings, notRun }),
      seconds: 0,
      seed: 0,
      findings,
      notRun,
      notes: textsIn(value.fixtures, ''),
    },
  ]
}
