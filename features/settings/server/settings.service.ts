import { cleanText } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import {
  type ConfigChange,
  type ConfigGroupName,
  type ConfigMap,
  type ConfigName,
  type ConfigSaved,
  configGroups,
  type FieldError,
  groupOfItem,
  maskedSecret,
} from '#features/contract.ts'
import { exactly, isSameChange, type SignInChange } from './approval.ts'
import type { SettingsContext } from './context.ts'
import {
  assertConsistent,
  assertTogether,
  changesOf,
  type Draft,
  draftOf,
  faulty,
  masked,
  namesOf,
  textOf,
  writtenOf,
} from './drafts.ts'
import { isSignInChange, needsFresh, type SignInGroup, signInGroups } from './fresh.ts'
import { allItems, isSecret, itemOf } from './items.ts'
import { recordOf } from './record.ts'
import { faultOf } from './settings.rules.ts'
import { createSettingsStore } from './settings.store.ts'

/** Checks the values of a group before they are stored. Throws the response of a refusal. */
export type SettingsValidator = (actor: Actor, next: ReadonlyMap<string, string>) => Promise<void>

/** Gate for changes of sign-in settings. */
export interface SignInGate {
  /** Runs before the transaction. If one person may not make the change alone, files it and throws. */
  assertAlone(actor: Actor, change: SignInChange, secret: Secret | null): Promise<void>
  /** Runs in the transaction that changes a group. */
  changed(tx: Tx, group: SignInGroup): Promise<void>
}

/** Returns further information for the approver of a change, or an empty string. */
export type SignInNote = (change: SignInChange) => Promise<string>

/** Groups that capabilities must validate. They cannot be changed without a validator. */
const validatedGroups: readonly ConfigGroupName[] = [
  'smtp',
  'ldap',
  'oidc',
  'ise',
  'cact',
  'security',
  'vendorA',
  'license',
  'backup',
]

/** Bus topic: items changed. */
export const settingsTopic = 'settings'

/** Items of a request: a text, or null to remove the item. */
export type GivenItems = Readonly<Record<string, string | null | undefined>>

export interface GroupValues<G extends ConfigGroupName> {
  text(name: ConfigName<G>): string
  number(name: ConfigName<G>): number
  flag(name: ConfigName<G>): boolean
  /** Null if it is not set. */
  secret(name: ConfigName<G>): Secret | null
}

/** Returns the context that binds a sealed item to its row. */
export const itemContext = (name: string): string => `config item ${name}`

/** Reads and changes the general configuration, with versions and rollback. */
export const createSettings = ({ db, clock, bus, audit, envelope }: SettingsContext) => {
  const store = createSettingsStore()
  const validators = new Map<ConfigGroupName, SettingsValidator>()
  const signInNotes: SignInNote[] = []
  let gate: SignInGate | null = null
  function signIn(): SignInGate {
    if (gate === null) throw new Error('the sign-in settings have no gate')
    return gate
  }

  async function readDrafts(q: Queryable, names: readonly string[]): Promise<Map<string, Draft>> {
    const rows = await store.items(q, names)
    return new Map(rows.map((row) => [row.name, draftOf(row)]))
  }

  /** Applies the items of a request. Throws all faults of single items. */
  function applied(before: ReadonlyMap<string, Draft>, given: GivenItems): Map<string, Draft> {
    const now = new Date(clock.now())
    const after = new Map(before)
    const faults: FieldError[] = []
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined) continue
      const item = itemOf(name)
      const text = value === null ? '' : item.kind === 'secret' || item.kind === 'lines' ? value : value.trim()
      if (item.kind === 'secret' && text === maskedSecret) continue
      const fault = faultOf(item, text, now)
      if (fault !== null) faults.push({ field: `body.${name}`, message: fault })
      else if (text === '') after.delete(name)
      else if (item.kind === 'secret')
        after.set(name, { value: '', sealed: envelope.seal(new Secret(text), itemContext(name)), isFresh: true })
      else after.set(name, { value: text, sealed: null, isFresh: false })
    }
    if (faults.length > 0) throw faulty(faults)
    return after
  }

  /** Throws if items no longer have the values that the caller read. */
  async function assertAsRead(
    q: Queryable,
    before: ReadonlyMap<string, Draft>,
    after: ReadonlyMap<string, Draft>,
    read: Readonly<Record<string, string | undefined>>,
  ): Promise<void> {
    const stale = changesOf(before, after).filter(
      ({ name }) => read[name] !== undefined && read[name] !== masked(before, name),
    )
    if (stale.length === 0) return
    const last = await store.lastChanges(
      q,
      stale.map(({ name }) => name),
    )
    const parts = last.map(({ name, by, at }) => {
      const value = isSecret(name) ? '' : ` to ${JSON.stringify(masked(before, name).slice(0, 200))}`
      return `${by} changed ${name}${value} at ${at.toISOString()}.`
    })
    throw new AppError('conflict', {
      detail: `${parts.join(' ')} Nothing was saved. Compare the changes and save again.`,
    })
  }

  /**
   * Stores a change. Every path that writes items uses it, so none can skip a check. Changes of sign-in settings, and
   * changes that weaken a guard, need fresh authentication.
   */
  async function storeChange(
    tx: Tx,
    actor: Actor,
    last: number,
    before: ReadonlyMap<string, Draft>,
    after: ReadonlyMap<string, Draft>,
    changes: readonly ConfigChange[],
    action: 'config.changed' | 'config.rolledBack',
  ): Promise<number> {
    if (changes.length === 0) return last
    if (changes.some(({ name }) => needsFresh(name, textOf(before, name), textOf(after, name))))
      assertFresh(actor, clock.now())
    const version = last + 1
    await store.write(tx, new Date(clock.now()), actor.userName, version, writtenOf(after, changes), changes)
    await bus.publish(tx, settingsTopic, { names: changes.map(({ name }) => name) })
    for (const group of signInGroups)
      if (changes.some(({ name }) => groupOfItem(name) === group)) await signIn().changed(tx, group)
    await audit.write(tx, actor, recordOf(action, version, changes, itemOf))
    return version
  }

  async function validate(
    group: ConfigGroupName,
    actor: Actor,
    before: ReadonlyMap<string, Draft>,
    after: ReadonlyMap<string, Draft>,
  ): Promise<void> {
    const names = Object.keys(configGroups[group].items)
    const changed = names.filter((name) => textOf(before, name) !== textOf(after, name))
    if (changed.length === 0) return
    // A validator may read files and contact other hosts. Its answer reveals what it found.
    if (changed.some((name) => needsFresh(name, textOf(before, name), textOf(after, name))))
      assertFresh(actor, clock.now())
    const check = validators.get(group)
    if (check !== undefined) await check(actor, new Map(names.map((name) => [name, textOf(after, name)])))
    else if (validatedGroups.includes(group)) throw new Error(`the settings of ${group} have no validator`)
  }

  /** Refuses a change of sign-in settings that one person may not make alone. */
  async function assertSignInAlone(
    actor: Actor,
    before: ReadonlyMap<string, Draft>,
    after: ReadonlyMap<string, Draft>,
    given: GivenItems | { version: number; prefix: string },
  ): Promise<void> {
    const changes = changesOf(before, after, exactly)
    // The other items of a group belong to the same decision.
    const gated = new Set(changes.filter(isSignInChange).map(({ name }) => groupOfItem(name)))
    const signInChanges = changes.filter(({ name }) => gated.has(groupOfItem(name)))
    if (signInChanges.length === 0) return
    if ('version' in given && typeof given.version === 'number') {
      // A version is restored as a whole, so the approver sees the other items too.
      await signIn().assertAlone(actor, { version: given.version, prefix: String(given.prefix), changes }, null)
      return
    }
    const items = Object.entries(given as GivenItems).filter(
      (entry): entry is [string, string | null] => entry[1] !== undefined && gated.has(groupOfItem(entry[0])),
    )
    // Masked secrets may be shown. New ones are sealed with the request.
    const isHidden = ([name, value]: [string, string | null]): boolean =>
      isSecret(name) && value !== null && value !== maskedSecret
    const hidden = items.filter(isHidden)
    await signIn().assertAlone(
      actor,
      { items: Object.fromEntries(items.filter((entry) => !isHidden(entry))), changes: signInChanges },
      hidden.length === 0 ? null : new Secret(JSON.stringify(Object.fromEntries(hidden))),
    )
  }

  /** Groups the items of a request. Throws on unknown names. */
  function byGroup(given: GivenItems): [ConfigGroupName, GivenItems][] {
    const groups = new Map<ConfigGroupName, Record<string, string | null | undefined>>()
    for (const [name, value] of Object.entries(given)) {
      const group = groupOfItem(name)
      if (group === undefined)
        throw faulty([{ field: `body.settings.${name.slice(0, 64)}`, message: 'is not an item' }])
      groups.set(group, { ...groups.get(group), [name]: value })
    }
    return [...groups]
  }

  const saved = (
    version: number,
    changes: ConfigChange[],
    after: ReadonlyMap<string, Draft>,
    names: readonly string[],
  ): ConfigSaved => ({
    version,
    changes,
    items: Object.fromEntries(names.map((name) => [name, masked(after, name)])),
  })

  /** Returns the changes that a rollback to a version would make now. */
  async function planRollback(tx: Tx, version: number, prefix: string) {
    const last = await store.lock(tx)
    if (version > last)
      throw new AppError('not_found', { detail: `Version ${version} does not exist. The newest version is ${last}.` })
    const then = await store.asOf(tx, version)
    const rows = then.filter(({ name }) => name.startsWith(prefix) && groupOfItem(name) !== undefined)
    const names = rows.map(({ name }) => name)
    const groups = [...new Set(names.map((name) => groupOfItem(name) as ConfigGroupName))]
    const before = await readDrafts(tx, groups.flatMap(namesOf))
    const after = new Map(before)
    for (const { name, value, sealed } of rows)
      if (value === null) after.delete(name)
      else if (!(sealed !== null && before.get(name)?.sealed?.equals(sealed)))
        after.set(name, { value, sealed, isFresh: true })
    for (const group of groups) {
      assertTogether(group, before, after, new Map(then.map((row) => [row.name, row.value])))
      assertConsistent(group, before, after)
    }
    return { last, names, groups, before, after, changes: changesOf(before, after) }
  }

  return {
    /** Registers the validator of a group, at start. It checks every change of the group. */
    addValidator: (group: ConfigGroupName, validate: SettingsValidator): void => {
      validators.set(group, validate)
    },
    /** Conditions that must hold before groups may be changed: their validators, and the gate of the sign-in settings. */
    needs: [
      ...validatedGroups.map((group) => ({
        what: `a validator of the settings ${group}`,
        isThere: () => validators.has(group),
      })),
      { what: 'a gate of the sign-in settings', isThere: () => gate !== null },
    ],
    /** Registers the gate for all changes of sign-in settings, at start. */
    gateSignIn: (asked: SignInGate): void => {
      gate = asked
    },
    /** Registers a note for approvers of changed sign-in settings, at start. */
    noteSignIn: (note: SignInNote): void => {
      signInNotes.push(note)
    },
    /** Returns the notes for the approver of a change. */
    signInNotes: async (change: SignInChange): Promise<string> =>
      (await Promise.all(signInNotes.map((note) => note(change)))).filter((text) => text !== '').join(' '),

    /** Changes items of one group, all or none. */
    save: async (
      actor: Actor,
      group: ConfigGroupName,
      given: GivenItems,
      read: Readonly<Record<string, string | undefined>> = {},
    ): Promise<ConfigSaved> => {
      const names = namesOf(group)
      const outside = await readDrafts(db, names)
      const wanted = applied(outside, given)
      await assertAsRead(db, outside, wanted, read)
      await validate(group, actor, outside, wanted)
      assertConsistent(group, outside, wanted)
      await assertSignInAlone(actor, outside, wanted, given)
      return db.transaction(async (tx) => {
        const last = await store.lock(tx)
        const before = await readDrafts(tx, names)
        const after = applied(before, given)
        await assertAsRead(tx, before, after, read)
        assertConsistent(group, before, after)
        const changes = changesOf(before, after)
        const version = await storeChange(tx, actor, last, before, after, changes, 'config.changed')
        return saved(version, changes, after, names)
      })
    },

    /**
     * Locks the configuration for the caller's transaction. Call it before writing audit records, to keep the lock
     * order.
     */
    lock: async (tx: Tx): Promise<void> => {
      await store.lock(tx)
    },

    /** Writes items in the transaction of their owner, who has checked and audited them. */
    write: async (tx: Tx, actor: Actor, given: Readonly<Record<string, string>>): Promise<void> => {
      const names = Object.keys(given)
      const last = await store.lock(tx)
      const before = await readDrafts(tx, names)
      const after = applied(before, given)
      const changes = changesOf(before, after)
      await storeChange(tx, actor, last, before, after, changes, 'config.changed')
    },

    /** Runs the validators of all groups that a request changes. */
    validateAll: async (actor: Actor, given: GivenItems): Promise<void> => {
      for (const [group, items] of byGroup(given)) {
        const before = await readDrafts(db, namesOf(group))
        const after = applied(before, items)
        await validate(group, actor, before, after)
        assertConsistent(group, before, after)
        await assertSignInAlone(actor, before, after, items)
      }
    },

    /**
     * Changes items of any groups in the caller's transaction, after their validators. Returns the changes. A dry run
     * stores nothing and needs no fresh authentication.
     */
    applyAll: async (tx: Tx, actor: Actor, given: GivenItems, isDry: boolean): Promise<ConfigChange[]> => {
      const last = await store.lock(tx)
      const groups = byGroup(given)
      const before = await readDrafts(
        tx,
        groups.flatMap(([group]) => namesOf(group)),
      )
      const after = applied(before, given)
      for (const [group] of groups) assertConsistent(group, before, after)
      const changes = changesOf(before, after)
      if (!isDry) await storeChange(tx, actor, last, before, after, changes, 'config.changed')
      return changes
    },

    /** Returns the items that are set, with masked secrets. */
    readSet: async (): Promise<ConfigMap> => {
      const drafts = await readDrafts(db, allItems)
      return Object.fromEntries([...drafts.keys()].sort().map((name) => [name, masked(drafts, name)]))
    },

    /** Returns known items with their current or default values, and masked secrets. */
    read: async (wanted: (name: string) => boolean): Promise<ConfigMap> => {
      const names = allItems.filter(wanted)
      const drafts = await readDrafts(db, names)
      return Object.fromEntries(names.map((name) => [name, masked(drafts, name)]))
    },

    /** Returns the values of a group, with its secrets. */
    values: async <G extends ConfigGroupName>(
      q: Queryable,
      group: G,
      given: GivenItems = {},
    ): Promise<GroupValues<G>> => {
      const before = await readDrafts(q, namesOf(group))
      const drafts = Object.keys(given).length === 0 ? before : applied(before, given)
      if (drafts !== before) assertConsistent(group, before, drafts)
      function open(name: string): Secret | null {
        const sealed = drafts.get(name)?.sealed ?? null
        return sealed === null ? null : envelope.open(sealed, itemContext(name))
      }
      return {
        text: (name) => textOf(drafts, name),
        number: (name) => Number(textOf(drafts, name)),
        flag: (name) => textOf(drafts, name) === 'true',
        secret: open,
      }
    },

    /** Records the use of an integration. A null failure: success. */
    noteUse: (name: string, failure: string | null): Promise<void> =>
      store.noteUse(db, new Date(clock.now()), name, failure === null ? null : cleanText(failure, 500)),
    uses: () => store.uses(db),

    history: (prefix: string, page: { number: number; size: number }) => store.history(db, prefix, page),

    /** Carries out an approved change in the transaction of the approval. */
    applySignIn: async (tx: Tx, actor: Actor, change: SignInChange, secret: Secret | null): Promise<void> => {
      function assertSame(before: ReadonlyMap<string, Draft>, after: ReadonlyMap<string, Draft>): void {
        if (!isSameChange(changesOf(before, after, exactly), change.changes))
          throw new AppError('conflict', {
            detail: 'The settings changed after this request. Request the change again.',
          })
      }
      const last = await store.lock(tx)
      if ('version' in change) {
        const { before, after, changes } = await planRollback(tx, change.version, change.prefix)
        assertSame(before, after)
        await storeChange(tx, actor, last, before, after, changes, 'config.rolledBack')
        return
      }
      const given: GivenItems = { ...change.items, ...(secret === null ? {} : JSON.parse(secret.reveal())) }
      for (const [group, items] of byGroup(given)) {
        const before = await readDrafts(tx, namesOf(group))
        const after = applied(before, items)
        assertConsistent(group, before, after)
        assertSame(before, after)
        await storeChange(tx, actor, await store.lock(tx), before, after, changesOf(before, after), 'config.changed')
      }
    },

    /** Restores items to their values in a version. */
    rollback: async (actor: Actor, version: number, prefix: string, isDry: boolean): Promise<ConfigSaved> => {
      const plan = await db.transaction((tx) => planRollback(tx, version, prefix))
      if (isDry) return saved(plan.last, plan.changes, plan.after, plan.names)
      for (const group of plan.groups) await validate(group, actor, plan.before, plan.after)
      await assertSignInAlone(actor, plan.before, plan.after, { version, prefix })
      return db.transaction(async (tx) => {
        const { last, names, before, after, changes } = await planRollback(tx, version, prefix)
        const next = await storeChange(tx, actor, last, before, after, changes, 'config.rolledBack')
        return saved(next, changes, after, names)
      })
    },
  }
}
