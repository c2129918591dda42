import { defineGuards } from '../guard.ts'

const others = 'server/src/features/system/approvals/links-and-settings.test.ts'

/** Guards around people, their tokens and their permissions. */
export const peopleGuards = defineGuards({
  authentication: {
    does: 'Every operation that is not declared public needs a valid credential',
    test: {
      file: 'server/src/platform/http/conventions.test.ts',
      name: 'of the contract answer 401 without a credential, and 403 below their profile',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/authorise.ts',
        find: "if (actor === null) throw new AppError('unauthorized')",
        replace: 'if (actor === null) return anonymous(request.ip)',
      },
    ],
  },
  profile: {
    does: 'Every operation needs the lowest profile that the permission table names',
    test: {
      file: 'server/src/platform/http/conventions.test.ts',
      name: 'of the contract answer 401 without a credential, and 403 below their profile',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/actor.ts',
        find: "if (actor.profile > needed) throw new AppError('forbidden', { profile: profileNames[needed] })",
        replace: 'void [actor.profile, profileNames[needed]]',
      },
      {
        file: 'server/src/platform/http/actor.ts',
        find: "if (!actor.permissions.has(permission)) throw new AppError('scope_missing', { scope: permission })",
        replace: '',
      },
    ],
  },
  managerAccounts: {
    does: 'A Manager changes accounts of profile User only',
    test: {
      file: 'server/src/features/people/accounts/accounts.test.ts',
      name: 'lets a Manager change only accounts of profile User',
    },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/accounts.service.ts',
        find: 'if (actor.profile === profiles.administrator) return\n',
        replace: 'if (actor.profile <= profiles.manager) return\n',
      },
    ],
  },
  withdrawalEvents: {
    does: 'Disabling, demoting or deleting an account raises an event and an alert that name both people',
    test: {
      file: 'server/src/features/people/accounts/withdrawal.test.ts',
      name: 'raises an event and an alert for each account',
    },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/accounts.service.ts',
        find: "if (losses.length > 0) await events.append(tx, [withdrawal(actor, before, losses.join(' and '))])",
        replace: '',
      },
    ],
  },
  maskedSecrets: {
    does: 'Clients can write secrets of the configuration but never read them, neither in the settings nor in the configuration document',
    test: {
      file: 'server/src/features/system/settings/settings.test.ts',
      name: 'is saved as a whole, masked when read, kept in versions and audited with its changes',
    },
    removedBy: [
      {
        file: 'server/src/features/system/settings/settings.service.ts',
        find: 'return Object.fromEntries(names.map((name) => [name, masked(drafts, name)]))',
        replace:
          'return Object.fromEntries(names.map((name) => [name, drafts.get(name)?.sealed ? envelope.open(drafts.get(name)?.sealed as Buffer, itemContext(name)).reveal() : masked(drafts, name)]))',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/system/document/document.test.ts',
          name: 'shows the changes in a dry run, applies them together, and changes nothing the second time',
        },
        removedBy: [
          {
            file: 'server/src/features/system/settings/settings.service.ts',
            find: '[...drafts.keys()].sort().map((name) => [name, masked(drafts, name)])',
            replace:
              '[...drafts.keys()].sort().map((name) => [name, drafts.get(name)?.sealed ? envelope.open(drafts.get(name)?.sealed as Buffer, itemContext(name)).reveal() : masked(drafts, name)])',
          },
        ],
      },
    ],
  },
  maskedWebhooks: {
    does: 'Nobody can read the path or query of a webhook, which may contain a token, or redirect them to another host',
    test: {
      file: 'server/src/features/outbound/notifications/groups.test.ts',
      name: 'never show the path or query of a webhook, and keep them when the masked URL is saved',
    },
    removedBy: [
      {
        file: 'server/src/features/outbound/notifications/groups.service.ts',
        find: 'url: maskedUrl(config.channels.webhook.url),',
        replace: 'url: config.channels.webhook.url,',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/outbound/notifications/groups.test.ts',
          name: 'never show the path or query of a webhook, and keep them when the masked URL is saved',
        },
        removedBy: [
          {
            file: 'server/src/features/outbound/notifications/groups.rules.ts',
            find: 'if (maskedUrl(url) !== maskedUrl(before.url))',
            replace: "if (maskedUrl(url) === '')",
          },
        ],
      },
      {
        test: {
          file: 'server/src/features/outbound/notifications/groups.test.ts',
          name: 'never show the path or query of a webhook, and keep them when the masked URL is saved',
        },
        removedBy: [
          {
            file: 'server/src/features/outbound/notifications/groups.rules.ts',
            find: 'if ((change?.ca ?? before.ca) !== before.ca)',
            replace: "if (before.ca === '-')",
          },
        ],
      },
    ],
  },
  accountGuesses: {
    does: 'Password guesses from other addresses never lock the owner out',
    test: {
      file: 'server/src/features/people/accounts/signin.test.ts',
      name: 'checks ten guesses per account from unknown addresses and still accepts the owner',
    },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/signin.service.ts',
        find: `isKnown ? [\`known:\${nameHash(key)}|\${address}\`, limits.known] : [\`account:\${nameHash(key)}\`, limits.account]`,
        replace: `[\`account:\${nameHash(key)}\`, isKnown ? limits.account : limits.account]`,
      },
    ],
  },
  auditWithChange: {
    does: 'A change commits only together with its audit record',
    test: {
      file: 'server/src/features/system/audit/audit.test.ts',
      name: 'rolls back a change that it cannot record',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agents/enrollment.service.ts',
        find: "await audit.write(tx, actor, {\n          action: 'enrolment_token.created',",
        replace:
          "if (row.name !== '') return\n        await audit.write(tx, actor, {\n          action: 'enrolment_token.created',",
      },
    ],
  },
  boundedBodies: {
    does: 'Request bodies in transit share a fixed amount of memory, and other people can keep working',
    test: {
      file: 'server/src/platform/http/held-bytes.test.ts',
      name: 'bodies of people use at most 128 MiB, and others can keep working',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/register.ts',
        find: '[createHeldBytes(machinesHeld), createHeldBytes(knownHeld)]',
        replace: '[createHeldBytes(machinesHeld), createHeldBytes(knownHeld * 64)]',
      },
    ],
  },
  countedBodies: {
    does: 'The server refuses a body with more names or values than the schema of its operation allows, before it parses the body',
    test: {
      file: 'server/src/platform/http/body-bounds.test.ts',
      name: 'cannot have many names',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/body-bounds.ts',
        find: 'names.add(name).size > most.names',
        replace: 'names.size > most.names',
      },
    ],
  },
  countedLastReaders: {
    does: 'A connection that the server ends counts until its client has read the last response, and is reset if that takes too long',
    test: {
      file: 'server/src/platform/http/connections.test.ts',
      name: 'a connection counts after its last response until its client has read it, and is reset after a long time',
    },
    removedBy: [
      { file: 'server/src/platform/http/connections.ts', find: 'end.destroySoon = () => end.end()', replace: '' },
    ],
  },
  boundedRequests: {
    does: 'A connection with more than eight requests without a complete response is closed before the server handles them',
    test: {
      file: 'server/src/platform/http/connections.test.ts',
      name: 'a connection that sends many requests without reading is closed before the server handles them',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/connections.ts',
        find: 'one.unanswered === mostUnanswered) end',
        replace: 'one.unanswered < 0) end',
      },
    ],
  },
  bodyTurns: {
    does: 'Large bodies are read one at a time, accounts take turns, and other requests are answered between the steps',
    test: {
      file: 'server/src/platform/http/body-turns.test.ts',
      name: 'large bodies of one account are read one at a time, and another account does not wait for all of them',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/register.ts',
        find: 'const leave = await turns.enter(accountId ?? userName, reply.raw)',
        replace: 'void [accountId, userName, turns, reply]\n      const leave = () => undefined',
      },
    ],
  },
  tokenCannotMoveFleet: {
    does: 'Operations that affect the whole fleet or its secrets need a password or second factor entered within five minutes; API tokens cannot call them',
    test: {
      file: 'server/src/features/people/accounts/reauthentication.test.ts',
      name: 'an API token never performs an operation that needs fresh authentication',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/authorise.ts',
        find: 'if (operation.fresh === true) assertFresh(actor, options.clock.now())',
        replace: 'void assertFresh',
      },
    ],
  },
  tokenScope: {
    does: 'An API token can use only the permissions that its scopes name',
    test: {
      file: 'server/src/features/people/accounts/token-scopes.test.ts',
      name: 'a token cannot use a permission that is not among its scopes',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/authorise.ts',
        find: 'assertPermission(actor, audience)',
        replace: 'void assertPermission',
      },
    ],
  },
  fairSignIn: {
    does: 'Sign-ins take turns by address, so that a flood from one address does not delay or refuse others',
    test: {
      file: 'server/src/features/people/accounts/signin.flood.test.ts',
      name: 'a correct sign-in from another address is accepted during a flood',
    },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/signin.service.ts',
        find: 'passwords.turn({ lane, key: address },',
        replace: "passwords.turn({ lane: address === '' ? lane : 'stranger', key: 'all' },",
      },
    ],
  },
  freshForAccounts: {
    does: 'An API token or old session neither disables nor deletes an account above profile User',
    test: { file: others, name: 'an API token can delete and disable only accounts of profile User' },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/accounts.fresh.ts',
        find: 'if (isSensitive) assertFresh(actor, now)',
        replace: 'void [isSensitive, assertFresh, actor, now]',
      },
    ],
  },
  freshForEmail: {
    does: 'An API token or old session does not change the e-mail address of an account above profile User',
    test: {
      file: others,
      name: 'an API token cannot change the e-mail address of an account above User, not even its own',
    },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/accounts.fresh.ts',
        find: 'before.email !== after.email',
        replace: 'false',
      },
    ],
  },
  freshForTokens: {
    does: 'An API token or old session does not revoke the API tokens of another account above profile User',
    test: {
      file: others,
      name: 'an API token cannot revoke tokens of Managers or of other Administrators',
    },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/api-tokens.service.ts',
        find: 'if (!isOwn && deleted.owner_profile < profiles.user) assertFresh(actor, clock.now())',
        replace: 'void isOwn',
      },
    ],
  },
})
