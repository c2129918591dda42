/** Turns the measurement of device recognition into a result of the proof. */
import { type Finding, type Result, verdictOf } from '../kit/verdict.ts'
import type { measure } from './measure.ts'

const limits: Readonly<Record<string, number>> = {
  'false confirmed: n': 0,
  'false suspected: share': 0.001,
  'missed tools: share': 0.15,
  'wrong kinds: share': 0.02,
  'modems shown as phone: n': 0,
  'unknown: share': 0.02,
}

export const deviceResult = (measured: ReturnType<typeof measure>, what: string, seconds: number): Result => {
  const named = Object.entries(measured).map(
    ([key, value]) => [key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`), value] as const,
  )
  const findings = named.flatMap(([name, value]): Finding[] =>
    typeof value === 'number'
      ? [{ what: name, value }]
      : (['n', 'share'] as const).map((of) => {
          const [figure, limit] = [`${name}: ${of}`, limits[`${name}: ${of}`]]
          return { what: figure, value: value[of], ...(limit === undefined ? {} : { atMost: limit }) }
        }),
  )
  const notes = named.flatMap(([name, value]) =>
    typeof value === 'number' ? [] : value.which.map((one) => `${name}: ${one}`),
  )
  const verdict = verdictOf({ findings })
  return { name: 'devices', what, verdict, seconds, seed: 0, findings, notRun: [], notes }
}
