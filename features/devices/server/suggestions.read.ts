import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { allWordsInModelText } from '@portcullis/platform/server/list/columns.ts'
import { mostSuggestions, type Suggestion, type suggestionKinds } from '#features/contract.ts'

/** A value, the text that explains it, and the folded text that contains every typed word. */
const kinds: Readonly<Record<(typeof suggestionKinds)[number], { value: string; label: string; words: string }>> = {
  vendor: { value: 'm.vendor', label: `''`, words: 'lower(m.vendor)' },
  product: { value: 'm.product', label: 'min(m.vendor)', words: 'm.folded' },
  model: { value: `m.vid || ':' || m.pid`, label: `btrim(m.vendor || ' ' || m.product)`, words: 'm.folded' },
  vid: { value: 'm.vid', label: 'min(m.vendor)', words: `lower(m.vid || ' ' || m.vendor)` },
  pid: { value: 'm.pid', label: `btrim(min(m.vendor) || ' ' || min(m.product))`, words: 'm.folded' },
}

/** A model is one row. Grouping 50,000 of them took three quarters of the time for a text of one letter. */
const grouped = { devices: 'sum(m.devices)::bigint', groupBy: 'group by 1' }
const single = { devices: 'm.devices::bigint', groupBy: '' }

/**
 * Returns the values of the known models that contain a text, the most frequent first. The texts of a model are in
 * `folded`, whose trigram index finds the few that match.
 */
export const createSuggestions =
  (db: Queryable) =>
  async ({ kind, text = '' }: { kind: keyof typeof kinds; text?: string }): Promise<{ data: Suggestion[] }> => {
    const { value, label, words } = kinds[kind]
    const { devices, groupBy } = kind === 'model' ? single : grouped
    const isIn = (folded: string) => allWordsInModelText(folded, text)
    return {
      data: await db.prepared<Suggestion>(sql`
        select ${raw(value)} as value, ${raw(label)} as label, ${raw(devices)} as devices from models m
        where ${isIn('m.folded')} and ${words === 'm.folded' ? raw('true') : isIn(words)} and ${raw(value)} <> ''
        ${raw(groupBy)} order by 3 desc, 1 limit ${mostSuggestions}`),
    }
  }
