import {
  alertStates,
  getAgents,
  listJobs,
  listReportSchedules,
  listRiskNotices,
} from '@portcullis/features/contract.ts'
import type { Api } from '@portcullis/platform/console/lib/api.ts'
import type { Choice } from '@portcullis/platform/console/lib/filter-values.ts'
import type { Choices } from '@portcullis/platform/contract/filters.ts'

type Read = (api: Pick<Api, 'call'>, text: string) => Promise<readonly Choice[]>

const most = 50
const matching = (all: readonly Choice[], text: string): readonly Choice[] => {
  const needle = text.toLowerCase()
  return all.filter(({ value, name }) => value === text || name.toLowerCase().includes(needle)).slice(0, most)
}

/** Kinds of jobs that send commands to hosts. */
const commandJobs = ['modes', 'commands']
const isUuid = (text: string): boolean => /^[0-9a-f-]{36}$/i.test(text)
const everyState = alertStates.join(',')

/** Reads the choices of filters by ID. */
export const choices: Readonly<Record<Choices, Read>> = {
  schedule: async (api, text) =>
    matching(
      (await api.call(listReportSchedules)).data.map(({ id, name }) => ({ value: id, name })),
      text,
    ),
  job: async (api, text) =>
    matching(
      (await api.call(listJobs)).data
        .filter(({ kind }) => commandJobs.includes(kind))
        .map(({ id, title, createdBy, createdAt }) => ({
          value: id,
          name: `${title} · ${createdBy} · ${createdAt.slice(0, 16).replace('T', ' ')} UTC`,
        })),
      text,
    ),
  alert: async (api, text) => {
    const query = /^\d+$/.test(text) ? { id: text, state: everyState } : { ...(text === '' ? {} : { search: text }) }
    const alerts = await api.call(listRiskNotices, { query: { ...query, pageSize: most } })
    return alerts.map(({ id, title }) => ({ value: String(id), name: title }))
  },
  host: async (api, text) => {
    const query = isUuid(text) ? { Uuid: text } : { ...(text === '' ? {} : { HostIdentifier: text }) }
    const { data } = await api.call(getAgents, { query: { ...query, SortBy: 'hostIdentifier_asc', PageSize: most } })
    return data.map(({ uuid, hostIdentifier }) => ({ value: uuid, name: hostIdentifier }))
  },
}
