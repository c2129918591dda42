import type { BodyOf, getPolicyTest, previewBulk, QueryOf } from '@portcullis/contract'

/** Which hosts are to be armed: named ones, or whatever a filter of the agents list leaves. */
export type ArmHosts = Pick<BodyOf<typeof previewBulk>, 'uuids' | 'filter'>

type TestQuery = NonNullable<QueryOf<typeof getPolicyTest>>

// Named hosts are looked back at one by one; more than a handful would say the same as the totals.
const named = 5

/**
 * What to look back at for these hosts: each named host, a tag, or the whole fleet. Null when the selection is of none of
 * these forms; then only the totals of the preview are known.
 */
export const lookBacks = ({ uuids, filter }: ArmHosts): Pick<TestQuery, 'hostUuid' | 'hashtags'>[] | null => {
  if (uuids !== undefined) return uuids.length <= named ? uuids.map((hostUuid) => ({ hostUuid })) : null
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined && value !== '')
  if (given.length === 0) return [{}]
  const [name, value] = given[0] ?? []
  return given.length === 1 && name === 'Hashtags' ? [{ hashtags: value as string }] : null
}
