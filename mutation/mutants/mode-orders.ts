import type { Mutant } from '../mutant.ts'

const features = 'server/src/features'
const test = `${features}/fleet/actions/mode-orders.test.ts`
const commands = { file: `${features}/fleet/commands/commands.service.ts`, test }
const state = { file: `${features}/fleet/agents/command-state.store.ts`, test }
const configuration = { file: `${features}/fleet/actions/configuration.service.ts`, test }
const bulk = { file: `${features}/fleet/actions/bulk.service.ts`, test }

/** Orders of modes that a job signs after the response. */
export const modeOrdersMutants: readonly Mutant[] = [
  {
    ...commands,
    does: 'A job signs a mode for hosts that got a newer order or whose order was cancelled',
    find: '(!onlyMarked || target.mode_job === jobId)',
    replace: '(!onlyMarked || target.mode_job !== undefined)',
    named: 'never replaces a newer order',
  },
  {
    ...commands,
    does: 'A cancellation of commands leaves the orders that no job has signed',
    find: 'withdrawn.push(...(await agents.withdrawModes(tx, targets, null)))',
    replace: '',
    named: 'never replaces a newer order',
  },
  {
    ...state,
    does: 'Another command of a host removes the order of its mode',
    find: 'mode_job = case when u.is_mode then null else h.mode_job end',
    replace: 'mode_job = null',
    named: 'never replaces a newer order',
  },
  {
    ...state,
    does: 'A newer mode leaves the older order of a host',
    find: 'mode_job = case when u.is_mode then null else h.mode_job end',
    replace: 'mode_job = h.mode_job',
    named: 'never replaces a newer order',
  },
  {
    ...state,
    does: 'An unsigned order is not pending once another command of the host ends',
    find: 'h.has_commands and h.mode_job is null',
    replace: 'h.has_commands',
    named: 'keeps an action pending',
  },
  {
    ...bulk,
    does: 'Hosts of a cancelled job keep a pending action',
    find: 'await commands.withdrawModes(run.id, (run.data as BulkJob).uuids, null)',
    replace: '',
    named: 'can be cancelled',
  },
  {
    ...bulk,
    does: 'Hosts of a failed job keep a pending action, and no event names them',
    find: 'await commands.withdrawModes(run.id, uuids, actionTitles[action])',
    replace: 'void [uuids, action]',
    named: 'leaves no action pending',
  },
  {
    ...bulk,
    does: 'A host that can no longer carry out its order keeps a pending action',
    find: 'if (unable.length > 0) await commands.dropModes(tx, jobId, some, unable)',
    replace: '',
    named: 'skips hosts',
  },
  {
    ...configuration,
    does: 'A job that frees many hosts needs no second approver',
    find: 'if (freed > 0) {',
    replace: 'if (freed > 0 && freed <= signedAtOnce) {',
    named: 'needs the same second approver',
  },
  {
    ...configuration,
    does: 'The audit trail does not state that a job was created for an order',
    find: "for (const job of jobs) await recordJob(audit, tx, actor, { ...job, selection: 'hosts by name' })",
    replace: '',
    named: 'gets a response before',
  },
]
