import { type BodyOf, getPolicy, restorePolicy } from '@portcullis/contract'
import type { Api } from '../../lib/api.ts'
import { CallFailure } from '../../lib/problem.ts'
import type { Services } from '../../lib/services.tsx'
import { tell, tellWithUndo } from '../tell.ts'
import { asReason } from './NewlyAllowed.tsx'
import { openedHosts, openedText } from './words.ts'

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

const goBack = async (api: Pick<Api, 'call'>, made: number, body: BodyOf<typeof restorePolicy>) => {
  const { version } = await api.call(getPolicy)
  if (version !== made)
    // Going back would also take back what others did.
    throw new CallFailure(
      'conflict',
      'The policy was changed again since then: choose what to restore under its history.',
    )
  return api.call(restorePolicy, { body })
}

/** Tells that the policy was changed and offers, for ten seconds, to restore the version before. Asks before this allows devices. */
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
  tellWithUndo(
    message,
    async (reason) => {
      await goBack(services.api, made, { version: before, ...asReason(reason) })
      rereadPolicy(services)
    },
    async () => {
      const dry = await goBack(services.api, made, { version: before, dryRun: true })
      const hosts = openedHosts(dry)
      if (hosts === 0) return null
      return {
        title: 'Undo the change of the policy',
        names: [],
        count: hosts,
        kind: ['host', 'hosts'],
        consequence: 'the rules from before the change apply again.',
        action: 'Undo',
        worksAgain: openedText(dry),
        ...(hosts > 1 ? { reasonFor: 'Why these devices may be used' } : {}),
      }
    },
  )
}
