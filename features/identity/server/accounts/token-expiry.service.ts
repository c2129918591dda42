import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { profileNames, tokenNoticeDays } from '#features/contract.ts'
import type { NewEvent } from '#features/events/server/index.ts'
import { createApiTokensStore, type ExpiringToken } from './api-tokens.store.ts'
import type { AccountsContext } from './context.ts'
import { atText } from './suspension.rules.ts'
import { dayMs, defaultExpiry } from './token-expiry.rules.ts'

const atOnce = 100

/** The end of the id distinguishes tokens with the same name and account. */
const entityOf = (token: ExpiringToken): string => `${token.name} of ${token.user_name} (${token.token_id.slice(-6)})`

const eventOf = (token: ExpiringToken): NewEvent => ({
  kind: 'tokenExpiring',
  agentId: null,
  entity: entityOf(token),
  hashtags: '',
  details: `The API token expires on ${atText(token.expires_at)}. Create a new token and replace this one before then.`,
  // The second step is more severe, so that a group is notified again.
  ...(token.step === 2 ? { severity: 3 } : {}),
})

/** Sends notifications about expiring API tokens, and limits tokens created before scopes. */
export const createTokenExpiry = ({ db, clock, audit, events, credentials }: AccountsContext) => ({
  /** Sends one notification for each step of each token, on one replica. */
  announce: async (): Promise<void> => {
    const [firstDays, secondDays] = tokenNoticeDays
    for (let done = atOnce; done === atOnce; )
      done = await db.transaction(async (tx) => {
        const now = clock.now()
        const tokens = await createApiTokensStore(tx).advanceExpiry(
          new Date(now),
          new Date(now + firstDays * dayMs),
          new Date(now + secondDays * dayMs),
          atOnce,
        )
        await events.append(tx, tokens.filter(({ step }) => step < 3).map(eventOf))
        for (const token of tokens)
          if (token.step === 3)
            await audit.write(tx, systemActor('system'), {
              action: 'apiToken.expired',
              entity: token.name,
              details: `of ${token.user_name}; expired: ${token.expires_at.toISOString()}`,
            })
        return tokens.length
      })
  },

  /** Limits tokens created before scopes to 90 days from the upgrade. Tokens that expire earlier keep their date. */
  limitLegacy: (): Promise<void> =>
    db.transaction(async (tx) => {
      const now = new Date(clock.now())
      const tokens = await createApiTokensStore(tx).limitLegacy(now, defaultExpiry(now))
      if (tokens.length === 0) return
      await credentials.announce(tx, [...new Set(tokens.map(({ account_id }) => account_id))])
      for (const token of tokens)
        await audit.write(tx, systemActor('system'), {
          action: 'apiToken.limited',
          entity: token.name,
          details: `of ${token.user_name}; userProfile: ${profileNames[token.user_profile]}; created before scopes; expires: ${token.expires_at.toISOString()}`,
        })
    }),
})
