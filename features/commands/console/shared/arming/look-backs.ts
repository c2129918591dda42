import type { BodyOf, getPolicyTest, previewBulk, QueryOf } from '@portcullis/contract'

/** The hosts to arm: named hosts, or all that match a filter of the host list. */
export type ArmHosts = Pick<BodyOf<typeof previewBulk>, 'uuids' | 'filter'>

type TestQuery = NonNullable<QueryOf<typeof getPolicyTest>>

// Each named host needs its own request; for more hosts the totals are enough.
const named = 5

/** Returns the simulation queries for these hosts: each named host, a tag, or the fleet. Null for any other selection. */
export const lookBacks = ({ uuids, filter }: ArmHosts): Pick<TestQuery, 'hostUuid' | 'hashtags'>[] | null => {
  if (uuids !== undefined) return uuids.length <= named ? uuids.map((hostUuid) => ({ hostUuid })) : null
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined && value !== '')
  if (given.length === 0) return [{}]
  const [name, value] = given[0] ?? []
  return given.length === 1 && name === 'Hashtags' ? [{ hashtags: value as string }] : null
}
