import { messages } from './messages.ts'

export const strings = messages({
  noResponse: 'No response.',
  notConfirmed: 'You did not confirm your identity, so nothing was changed.',
  notJson: 'The response is not JSON.',
  arabicLetterMark: 'Arabic letter mark',
  passkeyRefused: 'This passkey is not accepted.',
  passkeyExists: 'This device already holds one of your passkeys.',
  passkeyDomain:
    'Passkeys are bound to the domain name of the server, and this page is open at another address. Open it at the domain name.',
  passkeyMissing:
    'The browser did not return a passkey: the request was cancelled or timed out, or no passkey on this device matches.',
  passkeyFailed: 'The browser could not use a passkey: {error}',
  passwordRules: '12 to 128 characters; not a common password, not your user name.',
  passwordTooShort: 'Enter {count, plural, one {# more character} other {# more characters}}.',
  passwordTooLong: '{count, plural, one {# character} other {# characters}} too long.',
  passwordIsName: 'The password must differ from the user name.',
  cantReachServer: "Can't reach the server",
  partFailed: 'Part of the console failed to load.',
  reloadCure: 'Check the network and that the server is running, then reload the page.',
  consoleError: 'Something went wrong in the console',
  consoleErrorCure: 'Reload the page. If the problem persists, report what you did.',
  networkCure: 'Check the network and that the server is running. Your input is kept.',
  unreadable: 'Unreadable response',
  unreadableCure: 'A proxy between you and the server may have responded. Try again, or ask its administrator.',
  identityNotConfirmed: 'Identity not confirmed',
  confirmCure: 'To continue, start the action again and confirm your identity.',
  cureWithTrace: '{cure} (trace {traceId})',
  signInFailed: 'Sign-in failed. Try again.',
  noProblemDetails: 'The response has status {status} and no problem details.',
  inAmount: 'in {amount}',
  utc: '{time} UTC',
})
