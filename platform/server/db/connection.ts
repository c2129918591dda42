import pg from 'pg'
import type { Log } from '../log.ts'
import { databaseHosts } from './hosts.ts'
import { createCluster, type DatabaseCluster } from './primary.ts'

/** Returns the cluster of an address of several hosts; null if it names a single one. */
export const clusterOf = (address: string, log: Log): DatabaseCluster | null => {
  const hosts = databaseHosts(address)
  return hosts === null ? null : createCluster(hosts, log)
}

/** Returns how commands connect to the database of an address of one or several hosts. */
export const connectionOf = (address: string, log: Log): pg.PoolConfig =>
  clusterOf(address, log)?.connection ?? { connectionString: address }

/** Creates a client outside a pool. */
export const createClient = ({ Client = pg.Client, ...config }: pg.PoolConfig): pg.Client =>
  new (Client as typeof pg.Client)(config)
