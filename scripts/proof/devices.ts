/** Converts the measurement of device recognition to results: numbers and lengths of lists become figures. */

import { type Finding, type Result, verdictOf } from '../../rig/verdict.ts'
import { deviceBars } from '../devices/bars.ts'

const sets = {
  fixtures: 'Devices described by our own fixtures.',
  recordings: 'Recordings of ordinary devices.',
} as const

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
export const deviceSets = Object.keys(sets) as (keyof typeof sets)[]

/**
 * Parses the output of the measurement. A set is incomplete if it was not measured or lacks a figure that has a bar.
 */
export const devicesResult = (code: number | null, output: string): Result[] => {
  const value = parsed(output)
  if (value === undefined) return []
  return deviceSets.map((name) => {
    const bars = deviceBars[name]
    const findings = figuresIn(value[name], '').map((one) => ({
      ...one,
      ...bars.find(({ what }) => what === one.what),
    }))
    const absent = bars.filter(({ what }) => !findings.some((one) => one.what === what))
    const notRun =
      code === 0 && findings.length > 0
        ? absent.map(({ what }) => `${name}: the figure "${what}" is missing`)
        : [`${name}: not measured. Set PORTCULLIS_RECORDINGS to the folder with the recordings.`]
    return {
      name,
      what: sets[name],
      verdict: verdictOf({ findings, notRun }),
      seconds: 0,
      seed: 0,
      findings,
      notRun,
      // Third parties own the recordings: publish only their figures.
      notes: name === 'fixtures' ? textsIn(value[name], '') : [],
    }
  })
}
