import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { TestApp } from './app.ts'

type Api = Pick<ReturnType<TestApp['as']>, 'get' | 'post'>

/** Switches the second approver off permanently, for tests of other capabilities. */
export const liftGate = (t: Pick<TestApp, 'db'>) =>
  t.db.execute(sql`update approval_gate set is_latched = false, lifted_until = timestamptz '2100-01-01'`)

/** Makes all accounts independent people, as if each had been created before the gate latched. */
export const trustAccounts = (t: Pick<TestApp, 'db'>) => t.db.execute(sql`delete from account_influences`)

const requestsPath = '/prime/webui/policy/changerequests'

/** Reads a change request completely. Returns its approval. */
export const readRequest = async (api: Api, id: string | undefined) => {
  const { digest } = (await api.get(`${requestsPath}/${id}/details`)).json()
  return () => api.post(`${requestsPath}/${id}/approve`, { digest: digest ?? '0'.repeat(64) })
}

/** Reads a change request completely, and approves what was read. */
export const approveRequest = async (api: Api, id: string | undefined) => (await readRequest(api, id))()
