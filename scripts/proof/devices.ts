/** The measurement of device recognition as results: numbers and lengths of lists become figures. */
import type { Finding, Result } from '../../rig/verdict.ts'

const sets = {
  fixtures: 'Devices described by our own fixtures.',
  recordings: 'Recordings of ordinary devices.',
} as const

const words = (name: string): string => name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const figuresIn = (value: unknown, path: string): Finding[] => {
  if (typeof value === 'number') return [{ what: path, value }]
  if (Array.isArray(value)) return [{ what: path, value: value.length }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    // The list of the same devices stands beside its length.
    key === 'which' ? [] : figuresIn(inner, [path, words(key)].filter((one) => one !== '').join(': ')),
  )
}

const textsIn = (value: unknown, path: string): string[] => {
  if (Array.isArray(value)) return value.map((one) => `${path}: ${one}`)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, key === 'which' ? path : words(key)))
}

const parsed = (output: string): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(output) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** The names of the results that a whole measurement has. */
export const deviceSets = Object.keys(sets) as (keyof typeof sets)[]

/** Results of the measurement's output. They have no bars: they inform. A set that was not measured is incomplete. */
export const devicesResult = (code: number | null, output: string): Result[] => {
  const value = parsed(output)
  if (value === undefined) return []
  return deviceSets.map((name) => {
    const findings = figuresIn(value[name], '')
    const notRun =
      code === 0 && findings.length > 0 ? [] : [`${name}: not measured (does PORTCULLIS_RECORDINGS name their folder?)`]
    return {
      name,
      what: sets[name],
      verdict: notRun.length === 0 ? 'measured' : 'incomplete',
      seconds: 0,
      seed: 0,
      findings,
      notRun,
      // Recordings belong to others: only their figures are published.
      notes: name === 'fixtures' ? textsIn(value[name], '') : [],
    }
  })
}
