import pg from 'pg'

/** Creates a separate connection to a database of the rig. The caller opens it. */
export const createClient = (connection: pg.ClientConfig): pg.Client => new pg.Client(connection)
