import { sql } from '#platform/db/sql.ts'
import type { TestApp } from './app.ts'

/** Switches the second approver off permanently, for tests of other features. */
export const liftGate = (t: Pick<TestApp, 'db'>) =>
  t.db.execute(sql`update approval_gate set is_latched = false, lifted_until = timestamptz '2100-01-01'`)

/** Makes all accounts independent people, as if each had been created before the gate latched. */
export const trustAccounts = (t: Pick<TestApp, 'db'>) => t.db.execute(sql`delete from account_influences`)
