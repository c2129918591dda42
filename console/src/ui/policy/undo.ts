import { getPolicy, restorePolicy } from '@portcullis/contract'
import type { Api } from '../../lib/api.ts'
import { CallFailure } from '../../lib/problem.ts'
import type { Services } from '../../lib/services.tsx'
import { tell, tellWithUndo } from '../tell.ts'

/** Rereads whatever shows rules or decisions. */
export const rereadPolicy = ({ queries }: Pick<Services, 'queries'>): void => {
  for (const key of [
    'policy',
    'policy-rule',
    'policy-history',
    'policy-test',
    'approvals',
    'rows',
    'agent',
    'agent-peripherals',
  ])
    void queries.invalidateQueries({ queryKey: [key] })
}

const goBack = async (api: Pick<Api, 'call'>, made: number, before: number): Promise<void> => {
  const { version } = await api.call(getPolicy)
  if (version !== made)
    // Going back would also take back what others did.
    throw new CallFailure(
      'conflict',
      'The policy was changed again since then: choose what to restore under its history.',
    )
  await api.call(restorePolicy, { body: { version: before } })
}

/** Tells that the policy was changed and offers, for ten seconds, to restore the version before. */
export const tellPolicyChange = (
  services: Pick<Services, 'api' | 'queries'>,
  message: string,
  { made, before }: { made: number; before: number },
): void => {
  rereadPolicy(services)
  if (made <= before) {
    tell(message)
    return
  }
  tellWithUndo(message, async () => {
    await goBack(services.api, made, before)
    rereadPolicy(services)
  })
}
