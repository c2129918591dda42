import pg from 'pg'

/** A connection of its own to a database of the rig; not opened yet. */
export const createClient = (connection: pg.ClientConfig): pg.Client => new pg.Client(connection)
