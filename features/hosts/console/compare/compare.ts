import type { AgentDetail, Peripheral } from '#features/contract.ts'

export type Side = 'here' | 'there' | 'different' | 'same'

/** A model of device on two hosts, with the attached devices of each. */
export interface ComparedModel {
  model: string
  side: Side
  here: Peripheral[]
  there: Peripheral[]
}

const sides: readonly Side[] = ['here', 'there', 'different', 'same']
const bySide = (one: { side: Side }, other: { side: Side }): number =>
  sides.indexOf(one.side) - sides.indexOf(other.side)

/** What the policy does with devices, regardless of their order. */
const statesOf = (devices: readonly Peripheral[]): string =>
  devices
    .map(({ policyState, severity }) => `${policyState} ${severity}`)
    .toSorted()
    .join()

/** Compares the attached devices of two hosts by model: serial numbers always differ. */
export const compareDevices = (here: readonly Peripheral[], there: readonly Peripheral[]): ComparedModel[] => {
  const group = (devices: readonly Peripheral[]) =>
    Map.groupBy(
      devices.filter(({ present }) => present),
      ({ vid, pid }) => `${vid}:${pid}`,
    )
  const [ours, theirs] = [group(here), group(there)]
  return [...new Set([...ours.keys(), ...theirs.keys()])]
    .map((model): ComparedModel => {
      const [a, b] = [ours.get(model) ?? [], theirs.get(model) ?? []]
      const side =
        b.length === 0 ? 'here' : a.length === 0 ? 'there' : statesOf(a) === statesOf(b) ? 'same' : 'different'
      return { model, side, here: a, there: b }
    })
    .toSorted(bySide)
}

type Rule = AgentDetail['policy']['rules'][number]

/** Returns the rules that apply to one of two hosts only. */
export const compareRules = (
  here: readonly Rule[],
  there: readonly Rule[],
): { rule: Rule; side: 'here' | 'there' }[] => {
  const [ours, theirs] = [new Set(here.map(({ id }) => id)), new Set(there.map(({ id }) => id))]
  return [
    ...here.filter(({ id }) => !theirs.has(id)).map((rule) => ({ rule, side: 'here' as const })),
    ...there.filter(({ id }) => !ours.has(id)).map((rule) => ({ rule, side: 'there' as const })),
  ]
}
