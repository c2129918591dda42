import type pg from 'pg'

/**
 * The primary stored a change, but stopped waiting for a standby to store it. The change may be lost with the primary,
 * so it is not acknowledged.
 */
export class NotReplicatedError extends Error {
  override readonly name = 'NotReplicatedError'
  /** SQLSTATE of a transaction whose outcome is unknown. */
  readonly code = '08007'

  constructor() {
    super('The wait for a standby of the database was cancelled, so the change may be lost with the primary.')
  }
}

/** Connections whose last COMMIT was not replicated. */
const unreplicated = new WeakSet<pg.ClientBase>()

/** PostgreSQL translates the warning, but not the name of the function that sends it. */
const waitsForStandbys = 'SyncRepWaitForLSN'

/** Makes PostgreSQL send that warning. A database or role can be set to send errors only. */
export const askForWarnings = (client: pg.ClientBase): Promise<unknown> =>
  client.query('set client_min_messages = warning')

/** Notes if PostgreSQL reports that a COMMIT on this connection did not wait for synchronous standbys. */
export const watchReplication = (client: pg.ClientBase): void => {
  client.on('notice', ({ routine }) => {
    if (routine === waitsForStandbys) unreplicated.add(client)
  })
}

/**
 * Throws if the COMMIT that just returned was not replicated.
 * @throws NotReplicatedError
 */
export const assertReplicated = (client: pg.ClientBase): void => {
  if (unreplicated.delete(client)) throw new NotReplicatedError()
}
