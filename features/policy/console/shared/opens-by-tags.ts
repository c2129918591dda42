import type { Api } from '@portcullis/platform/console/lib/api.ts'
import { type BodyOf, previewTags } from '#features/contract.ts'
import type { Opens } from './labels.ts'

export type TagChanges = BodyOf<typeof previewTags>['changes']

/** Reads which devices a change of host tags newly allows. */
export const opensByTags = async (
  api: Pick<Api, 'call'>,
  changes: TagChanges,
  signal?: AbortSignal,
): Promise<Opens> => {
  if (changes.length === 0) return { worksAgain: null, newlyAllowed: 0 }
  const { newlyAllowed, prediction } = await api.call(previewTags, {
    body: { changes },
    ...(signal === undefined ? {} : { signal }),
  })
  return { newlyAllowed, worksAgain: prediction.worksAgain }
}

/** Returns the changes that add tags to hosts and remove tags from them. */
export const tagChanges = (uuids: readonly string[], add: readonly string[], remove: readonly string[]): TagChanges =>
  (
    [
      ['add', add],
      ['remove', remove],
    ] as const
  ).flatMap(([effect, names]) => (names.length === 0 ? [] : [{ effect, hashtags: [...names], uuids: [...uuids] }]))
