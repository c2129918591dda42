import { define } from './error-definition.ts'

/** Problems of a sign-in with a directory or an identity provider. */
export const providerErrors = define({
  directory_unavailable: {
    status: 503,
    title: 'The directory is unavailable',
    detail:
      'The server could not check the user name and password, because the directory is unavailable. Local accounts can still sign in.',
    cause:
      'The directory is down, does not respond in time, presents an untrusted certificate, or refuses the bind account.',
    cure: 'Sign in with a local account and run the connection test in the directory settings. It shows which step fails.',
  },
  oidc_unavailable: {
    status: 503,
    title: 'The identity provider is unavailable',
    detail: 'The identity provider is unavailable. Local accounts can still sign in.',
    cause:
      'The identity provider is not enabled, is down, does not respond in time, presents an untrusted certificate, or refuses this server as a client.',
    cure: 'Try again, or run the connection test in the settings of the identity provider. It shows which step fails.',
  },
  oidc_answer_refused: {
    status: 400,
    title: 'This sign-in cannot be completed',
    detail: 'This sign-in was started in another browser, took longer than ten minutes, or was already completed.',
    cause:
      'The response belongs to another browser or to an earlier configuration, arrived twice, or arrived too late.',
    cure: 'Open the sign-in page under the domain name of the server and start again.',
  },
  oidc_answer_invalid: {
    status: 400,
    title: 'The response of the identity provider was not accepted',
    detail:
      'This server could not accept the response of the identity provider. The fault is in the configuration, not in your password.',
    cause:
      'A token or the userinfo response has an unsupported algorithm, a wrong signature, issuer, audience or subject, or a time that differs from the clock of this server.',
    cure: 'Sign in with a local account, or ask an Administrator. The server log names the exact cause, and the connection test of the identity provider checks the configuration.',
  },
  oidc_denied: {
    status: 403,
    title: 'The identity provider refused the sign-in',
    detail: 'The identity provider did not sign you in.',
    cause: 'You cancelled the sign-in at the provider, or the provider does not allow you to use this application.',
    cure: 'Try again, or ask the administrator of the provider to assign the application to you.',
  },
  oidc_not_entitled: {
    status: 403,
    title: 'No access to this server',
    detail: 'The identity provider signed you in, but you are not in a group that has access to this server.',
    cause:
      'The groups claim contains none of the configured values, or the name claim does not contain a valid user name. Or the account is disabled on this server.',
    cure: 'Ask an Administrator for access. The audit trail records the exact reason.',
  },
  oidc_groups_unknown: {
    status: 403,
    title: 'The identity provider did not send your groups',
    detail:
      'The identity provider signed you in, but this server could not read your groups in its response. Your account was not changed.',
    cause:
      'The groups claim is missing, was left out because you are in too many groups, is one string with separators, or is not a list of strings.',
    cure: 'Ask an Administrator to correct the groups claim. The audit trail and the server log record the exact reason.',
  },
  oidc_not_fresh: {
    status: 403,
    title: 'The identity provider did not ask for your password',
    detail: 'The identity provider did not confirm that you signed in there within the last 5 minutes.',
    cause:
      'The ID token has no auth_time claim, or the claim is more than 5 minutes old. The provider used an existing sign-in although prompt=login requests a new one.',
    cure: 'Sign out at the provider and try again. If the problem persists, ask its administrator to honour prompt=login and max_age and to include auth_time in ID tokens.',
  },
  oidc_other_person: {
    status: 403,
    title: 'Another user signed in',
    detail: 'The user confirmed by the identity provider is not the user who is signed in here.',
    cause: 'The user who signed in at the provider does not own this session.',
    cure: 'Try again and sign in at the provider with the account you use here.',
  },
  oidc_name_taken: {
    status: 409,
    title: 'The name belongs to another account',
    detail: 'Another account on this server already has your user name.',
    cause:
      'The value of the name claim is the name of a local account, a directory account, or an account of another subject at the provider. The server never takes over an account.',
    cure: 'Ask an Administrator to delete or rename the other account, or to configure another name claim.',
  },
})
