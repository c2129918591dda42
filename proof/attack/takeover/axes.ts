/** The rows and columns of the takeover matrix: attackers and their goals. */

/** Attackers by id, each with what they already control. */
export const attackers = {
  stranger: 'Stranger on the network',
  middle: 'Machine in the middle',
  localUser: 'Local user on a host',
  hostRoot: 'Root on one host',
  device: 'Hostile USB device',
  polledHost: 'Polled SSH host',
  userSession: 'Session of a User',
  managerSession: 'Session of a Manager',
  administratorSession: 'Session of an Administrator',
  userToken: 'API token of a User',
  managerToken: 'API token of a Manager',
  administratorToken: 'API token of an Administrator',
  feedToken: 'Token of a feed',
  identityProvider: 'Operator of the directory or identity provider',
  mailServer: 'Operator of the mail server',
  worker: 'Worker machine',
  serverUser: 'Local user on the server',
  databaseReader: 'Database reader',
  databaseWriter: 'Database writer',
  databaseWriterWithKeys: 'Database writer with the key file',
  proxy: 'Proxy that terminates TLS',
  serverRoot: 'Root on the server',
} as const

export type Attacker = keyof typeof attackers

/** Goals by id, as the column headings of the published table. */
export const goals = {
  runProgram: 'Run a program on hosts',
  freeHost: 'Free an armed host',
  allowDevice: 'Get a device allowed',
  readSecret: 'Read a stored secret',
  impersonateHost: 'Impersonate another host',
  forgeEvent: 'Hide or forge an event',
  forgeTrail: 'Forge the audit trail undetected',
  denyService: 'Deny service to others',
  lockOut: 'Lock people out',
} as const

export type Goal = keyof typeof goals
