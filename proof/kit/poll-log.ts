/** Records the outcome of every poll lease with triggers in the database, independently of the product. */
import { type Connection, withClient } from './stored.ts'

export interface Lease {
  host: string
  fence: number
  poller: string
  /** `performance.timeOrigin` + `performance.now()` of this machine, like all times here. */
  at: number
  /** State with which its result was stored; null if there was no result. */
  state: string | null
}

export interface Given {
  host: string
  /** How often it was postponed because its worker died. */
  putOff: number
  /** Number of results stored for it. */
  ends: number
  failure: string | null
  isOver: boolean
  leases: Lease[]
}

const trigger = `
  CREATE TABLE proof_poll_log (n bigserial PRIMARY KEY, what text, connection_id uuid, fence int, poller uuid, state text, at float8);
  CREATE FUNCTION proof_log_poll() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    IF OLD.lease_until IS NOT NULL AND NEW.lease_until IS NULL THEN
      INSERT INTO public.proof_poll_log (what, connection_id, fence, state, at)
      VALUES (CASE WHEN NEW.cause = 'worker-lost' THEN 'put off' ELSE 'end' END, OLD.connection_id, OLD.fence, NEW.state, extract(epoch FROM clock_timestamp()) * 1000);
    ELSIF NEW.lease_until IS NOT NULL AND NEW.fence <> OLD.fence THEN
      INSERT INTO public.proof_poll_log (what, connection_id, fence, poller, at)
      VALUES ('lease', NEW.connection_id, NEW.fence, NEW.poller_id, extract(epoch FROM clock_timestamp()) * 1000);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER proof_log_poll AFTER UPDATE ON connection_runs FOR EACH ROW EXECUTE FUNCTION proof_log_poll()`

interface Row {
  what: 'lease' | 'end' | 'put off'
  host: string
  fence: number
  poller: string
  state: string | null
  at: number
}

/** Starts recording. */
export const watchPolls = (connection: Connection): Promise<void> =>
  withClient(connection, async (client) => {
    await client.query(trigger)
  })

/** Returns the number of stored results and postponed polls so far. */
export const endedPolls = (connection: Connection): Promise<number> =>
  withClient(connection, async (client) => {
    const { rows } = await client.query<{ n: number }>(
      "SELECT count(DISTINCT connection_id)::int AS n FROM proof_poll_log WHERE what <> 'lease'",
    )
    return rows[0]?.n ?? 0
  })

/** Returns the number of hosts that a process currently polls, by the id of the process. */
export const runningOf = (connection: Connection, poller: string): Promise<number> =>
  withClient(connection, async (client) => {
    const { rows } = await client.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM connection_runs WHERE poller_id = $1::uuid AND lease_until IS NOT NULL',
      [poller],
    )
    return rows[0]?.n ?? 0
  })

/** Returns every host that was or should have been leased, with its leases. */
export const readPolls = (connection: Connection): Promise<Given[]> =>
  withClient(connection, async (client) => {
    const { rows: hosts } = await client.query<{ host: string; over: boolean; failure: string | null }>(
      'SELECT computer_name AS host, lease_until IS NULL AND ended_at IS NOT NULL AS over, cause AS failure FROM connections JOIN connection_runs USING (connection_id)',
    )
    const { rows } = await client.query<Row>(
      'SELECT what, computer_name AS host, fence, poller::text, proof_poll_log.state, at FROM proof_poll_log JOIN connections USING (connection_id) ORDER BY n',
    )
    const byHost = Map.groupBy(rows, ({ host }) => host)
    return hosts.map(({ host, over, failure }) => {
      const own = byHost.get(host) ?? []
      const ends = own.filter(({ what }) => what === 'end')
      return {
        host,
        putOff: own.filter(({ what }) => what === 'put off').length,
        ends: ends.length,
        failure,
        isOver: over,
        leases: own
          .filter(({ what }) => what === 'lease')
          .map(({ fence, poller, at }) => ({
            host,
            fence,
            poller,
            at,
            state: ends.find((end) => end.fence === fence)?.state ?? null,
          })),
      }
    })
  })
