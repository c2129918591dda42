import { AppError } from '@portcullis/platform/server/app-error.ts'
import {
  type ConfigChange,
  type ConfigGroupName,
  configGroups,
  type FieldError,
  maskedSecret,
} from '#features/contract.ts'
import { wholeFaults } from './checks.ts'
import { defaultOf, isSecret } from './items.ts'
import type { ItemRow, WrittenItem } from './settings.store.ts'

const shown = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

/** An item during a change: its text, or the ciphertext of a secret. */
export interface Draft {
  value: string
  sealed: Buffer | null
  /** Whether the request contains the secret. */
  isFresh: boolean
}

/** Returns a stored item as a draft. */
export const draftOf = (row: ItemRow): Draft => ({ value: row.value, sealed: row.sealed, isFresh: false })

/** Returns the text of an item, or its default. */
export const textOf = (drafts: ReadonlyMap<string, Draft>, name: string): string =>
  drafts.get(name)?.value ?? defaultOf(name)

/** Returns the text of an item as people may see it. */
export const masked = (drafts: ReadonlyMap<string, Draft>, name: string): string =>
  isSecret(name) ? (drafts.get(name)?.sealed ? maskedSecret : '') : textOf(drafts, name)

/** Returns the names of the items of a group. */
export const namesOf = (group: ConfigGroupName): string[] => Object.keys(configGroups[group].items)

/** Returns the answer to items with faults. */
export const faulty = (faults: readonly FieldError[]): AppError =>
  new AppError(
    'validation_failed',
    { detail: faults.map(({ field, message }) => `${field}: ${message}`).join('; ') },
    { errors: faults },
  )

const differs = (a: Draft | undefined, b: Draft | undefined): boolean =>
  a?.value !== b?.value || (a?.sealed === undefined) !== (b?.sealed === undefined) || a?.sealed !== b?.sealed

/** Throws the faults that involve several items of a group. */
export const assertConsistent = (
  group: ConfigGroupName,
  before: ReadonlyMap<string, Draft>,
  after: ReadonlyMap<string, Draft>,
): void => {
  const names = namesOf(group)
  const moved = configGroups[group].place.find((name) => textOf(before, name) !== textOf(after, name))
  const faults: FieldError[] = []
  if (moved !== undefined)
    for (const name of names.filter(isSecret)) {
      const stays = after.get(name)
      if (before.get(name)?.sealed && stays?.sealed && !stays.isFresh)
        faults.push({
          field: `body.${name}`,
          message: `must be entered again, because ${moved} changes where it is sent`,
        })
    }
  const whole = wholeFaults(group, {
    text: (name) => textOf(after, name),
    isSet: (name) => after.get(name)?.sealed != null,
  })
  faults.push(...whole.map(({ name, message }) => ({ field: `body.${name}`, message })))
  if (faults.length > 0) throw faulty(faults)
}

/** Refuses to restore a secret without its destination, because it would be sent elsewhere. */
export const assertTogether = (
  group: ConfigGroupName,
  before: ReadonlyMap<string, Draft>,
  after: ReadonlyMap<string, Draft>,
  then: ReadonlyMap<string, string | null>,
): void => {
  const valueThen = (name: string): string =>
    then.has(name) ? (then.get(name) ?? defaultOf(name)) : textOf(before, name)
  const moved = configGroups[group].place.find((name) => valueThen(name) !== textOf(after, name))
  const restored = namesOf(group).filter(
    (name) => isSecret(name) && after.get(name)?.isFresh === true && differs(before.get(name), after.get(name)),
  )
  if (moved !== undefined && restored.length > 0)
    throw faulty(
      restored.map((name) => ({
        field: `body.${name}`,
        message: `belonged to another ${moved} in that version; restore the whole group`,
      })),
    )
}

/** Returns the changed items, by name. `show` shortens their texts. */
export const changesOf = (
  before: ReadonlyMap<string, Draft>,
  after: ReadonlyMap<string, Draft>,
  show = shown,
): ConfigChange[] =>
  [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => differs(before.get(name), after.get(name)))
    .sort()
    .map((name) =>
      isSecret(name)
        ? {
            name,
            from: before.get(name)?.sealed ? 'secret' : '',
            to: after.get(name)?.sealed ? (before.get(name)?.sealed ? 'secret (changed)' : 'secret') : '',
          }
        : { name, from: show(before.get(name)?.value ?? ''), to: show(after.get(name)?.value ?? '') },
    )

/** Returns the changed items as they are stored. */
export const writtenOf = (after: ReadonlyMap<string, Draft>, changes: readonly ConfigChange[]): WrittenItem[] =>
  changes.map(({ name }) => {
    const draft = after.get(name)
    return { name, value: draft?.value ?? null, sealed: draft?.sealed ?? null }
  })
