import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { allWordsInModelText } from '@portcullis/platform/server/list/columns.ts'
import { mostSuggestedFrom, mostSuggestions, type Suggestion, type suggestionKinds } from '#features/contract.ts'

/** A value, the text that explains it, and the folded text that contains every typed word. */
const kinds: Readonly<Record<(typeof suggestionKinds)[number], { value: string; label: string; words: string }>> = {
  vendor: { value: 'm.vendor', label: `''`, words: 'lower(m.vendor)' },
  product: { value: 'm.product', label: 'min(m.vendor)', words: 'm.folded' },
  model: { value: `m.vid || ':' || m.pid`, label: `min(btrim(m.vendor || ' ' || m.product))`, words: 'm.folded' },
  vid: { value: 'm.vid', label: 'min(m.vendor)', words: `lower(m.vid || ' ' || m.vendor)` },
  pid: { value: 'm.pid', label: `btrim(min(m.vendor) || ' ' || min(m.product))`, words: 'm.folded' },
}

/**
 * Returns the values of the known models that contain a text, the most frequent first. The texts of a model are in
 * `folded`, whose trigram index finds the few that match. Suggestions come only from the most frequent models, because
 * grouping 50,000 models took three quarters of the time. Devices are counted over all models.
 */
export const createSuggestions =
  (db: Queryable) =>
  async ({ kind, text = '' }: { kind: keyof typeof kinds; text?: string }): Promise<{ data: Suggestion[] }> => {
    const { value, label, words } = kinds[kind]
    const isIn = (folded: string) => allWordsInModelText(folded, text)
    const matches = sql`${isIn('m.folded')} and ${words === 'm.folded' ? raw('true') : isIn(words)}`
    // All models of a matching vendor match, but only some models of a product or ID.
    const counted = kind === 'vendor' ? raw('true') : matches
    return {
      data: await db.prepared<Suggestion>(sql`
        with best as materialized (
          select f.value from (
            select ${raw(value)} as value, m.devices from models m
            where ${matches} and ${raw(value)} <> '' order by m.devices desc, m.model_id limit ${mostSuggestedFrom}) f
          group by f.value order by sum(f.devices) desc, 1 limit ${mostSuggestions})
        select ${raw(value)} as value, ${raw(label)} as label, sum(m.devices)::bigint as devices from models m
        where ${raw(value)} in (select b.value from best b) and ${counted}
        group by 1 order by 3 desc, 1`),
    }
  }
