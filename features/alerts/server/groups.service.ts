import { isLoopback } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { DestinationError } from '@portcullis/platform/server/destinations.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { parseSyslogAddress } from '@portcullis/platform/server/syslog/index.ts'
import { newWebhookSecret, parseWebhookSecret } from '@portcullis/platform/server/webhooks/index.ts'
import { maskedSecret, type NotificationGroup, type NotificationGroupChange } from '#features/contract.ts'
import type { OutputPlan, WebhookTarget } from '#features/deliveries/server/index.ts'
import { certificatesOf } from '#features/settings/server/index.ts'
import type { AlertsContext } from './context.ts'
import { difference } from './group-difference.ts'
import { outputsOf } from './group-outputs.ts'
import { assertGroup, maskedUrl, merged, webhookUrl, withRecipients } from './groups.rules.ts'
import { createGroupsStore } from './groups.store.ts'
import { defaultConfig, type Group, type GroupConfig, groupDefinitions } from './groups.ts'

/** Returns the context to which the secret of a group's webhook is bound. */
export const webhookContext = (groupId: string): string => `notification group ${groupId} webhook_secret`

/** Removes the secret, which is stored sealed in its own column. */
const withoutSecret = (config: GroupConfig): GroupConfig => ({
  ...config,
  channels: { ...config.channels, webhook: { ...config.channels.webhook, secret: '' } },
})

/** Stores the notification groups, a fixed set that Administrators configure. */
export const createGroups = ({ db, clock, audit, envelope, resolve, deliveries, hint }: AlertsContext) => {
  const store = createGroupsStore()
  async function read(q: Queryable): Promise<Group[]> {
    const rows = new Map((await store.all(q)).map((row) => [row.group_id, row]))
    return groupDefinitions.map((definition) => {
      const row = rows.get(definition.id)
      const usual = defaultConfig(definition)
      const { channels, ...rest } = row?.config ?? {}
      return {
        definition,
        // Merged by member, so that stored groups get defaults for members of later releases.
        config: {
          ...usual,
          ...rest,
          channels: {
            email: { ...usual.channels.email, ...channels?.email },
            webhook: { ...usual.channels.webhook, ...channels?.webhook },
            syslog: { ...usual.channels.syslog, ...channels?.syslog },
          },
        },
        secret: row?.webhook_secret ?? null,
        updatedAt: row?.updated_at ?? null,
        updatedBy: row?.updated_by ?? '',
      }
    })
  }

  function shown({ definition, config, secret, updatedAt, updatedBy }: Group, fresh: Secret | null): NotificationGroup {
    const { off, ...members } = config
    return {
      id: definition.id,
      groupName: definition.groupName,
      description: definition.description,
      kind: definition.kind,
      ...members,
      updatedAt: updatedAt?.toISOString() ?? '',
      updatedBy,
      notifications: definition.switches.map(({ id, name }) => ({ id, name, isEnabled: !off.includes(id) })),
      channels: {
        ...config.channels,
        webhook: {
          ...config.channels.webhook,
          url: maskedUrl(config.channels.webhook.url),
          secret: fresh?.reveal() ?? (secret === null ? '' : maskedSecret),
        },
      },
    }
  }

  /** Rejects destinations that this server never connects to. A name that does not resolve now is allowed. */
  async function assertReachable(field: string, host: string): Promise<string | null> {
    return resolve(host).then(
      ({ address }) => address,
      (error: unknown) => {
        if (!(error instanceof DestinationError)) throw error
        if (error.fault === 'refused')
          throw new AppError(
            'unprocessable',
            { detail: `${field}: ${error.message}` },
            { errors: [{ field, message: error.message }] },
          )
        return null
      },
    )
  }

  /** Returns null without a secret, or if no key opens it: other groups must not be affected. */
  function openSecret({ definition, secret }: Group): Secret | null {
    try {
      return secret === null ? null : envelope.open(secret, webhookContext(String(definition.id)))
    } catch {
      return null
    }
  }

  /** Returns the secret to store (kept, given or generated), and the generated one. */
  function secretFor(
    before: Group,
    after: GroupConfig,
    given: string | undefined,
  ): { box: Buffer | null; fresh: Secret | null } {
    const { url } = after.channels.webhook
    const isMoved =
      before.secret !== null &&
      before.config.channels.webhook.url !== '' &&
      url !== '' &&
      webhookUrl(url).host !== webhookUrl(before.config.channels.webhook.url).host
    // Without an address the secret is dropped, so that a later address cannot inherit it.
    if (url === '') return { box: null, fresh: null }
    const seal = (secret: Secret): Buffer => envelope.seal(secret, webhookContext(String(before.definition.id)))
    if (
      given === '' ||
      (before.secret === null && after.channels.webhook.isEnabled && (given ?? maskedSecret) === maskedSecret)
    ) {
      const fresh = newWebhookSecret()
      return { box: seal(fresh), fresh }
    }
    if (given === undefined || given === maskedSecret) {
      if (isMoved)
        throw invalid(
          'body.channels.webhook.secret',
          'is required again, because the webhook moves to another host; an empty value generates a new one',
        )
      return { box: before.secret, fresh: null }
    }
    const secret = parseWebhookSecret(given)
    if (secret === null)
      throw invalid(
        'body.channels.webhook.secret',
        'must be whsec_ followed by base64 of 24 to 64 bytes, or empty for a new one',
      )
    return { box: seal(secret), fresh: null }
  }

  function groupOf(groups: readonly Group[], id: number): Group {
    const group = groups.find(({ definition }) => definition.id === id)
    if (group === undefined)
      throw new AppError('not_found', {
        detail: `Notification group ${id} does not exist. Valid ids are 1 to ${groupDefinitions.length}.`,
      })
    return group
  }

  /** Returns a group after a change, checked and not stored. */
  async function validated(before: Group, change: NotificationGroupChange): Promise<GroupConfig> {
    const config = withRecipients(merged(before.definition, before.config, change))
    assertGroup(before.definition, config)
    const { webhook, syslog } = config.channels
    if (webhook.url !== '') {
      const { protocol, hostname } = webhookUrl(webhook.url)
      const at = await assertReachable('body.channels.webhook.url', hostname)
      if (protocol === 'http:' && (at === null || !isLoopback(at)))
        throw invalid(
          'body.channels.webhook.url',
          'must start with https://; plain http is allowed for this machine only',
        )
    }
    const address = syslog.address === '' ? null : parseSyslogAddress(syslog.address, syslog.protocol)
    if (address !== null) await assertReachable('body.channels.syslog.address', address.host)
    return withoutSecret(config)
  }

  /** Checks changes before the transaction, because name resolution takes time. */
  async function validate(changes: readonly NotificationGroupChange[]): Promise<void> {
    const groups = await read(db)
    for (const change of changes) await validated(groupOf(groups, change.id), change)
  }

  async function changeIn(tx: Tx, actor: Actor, change: NotificationGroupChange) {
    const before = groupOf(await read(tx), change.id)
    const { updatedAt, updatedBy } = before
    if (change.ifUpdatedAt !== undefined && change.ifUpdatedAt !== (updatedAt?.toISOString() ?? ''))
      throw new AppError('conflict', {
        detail: `${updatedBy} changed this group at ${updatedAt?.toISOString()}. Nothing was saved. Compare the changes and save again.`,
      })
    const wanted = withRecipients(merged(before.definition, before.config, change))
    const after = withoutSecret(wanted)
    assertGroup(before.definition, after)
    const { box, fresh } = secretFor(before, after, change.channels?.webhook?.secret)
    const changes = [difference(before.config, after), box === before.secret ? '' : 'webhook secret changed']
      .filter((part) => part !== '')
      .join('; ')
    if (changes !== '') {
      await store.save(tx, change.id, after, box, { at: new Date(clock.now()), by: actor.userName })
      await deliveries.begin(
        tx,
        (await read(tx)).flatMap((group) => outputsOf(group, () => openSecret(group))),
      )
      await hint(tx, 'notices')
      await audit.write(tx, actor, {
        action: 'notification.group.updated',
        entity: before.definition.groupName,
        details: changes,
      })
    }
    return { groupName: before.definition.groupName, changes, fresh }
  }

  return {
    read,
    groupOf,
    validated,
    openSecret,

    list: async (): Promise<NotificationGroup[]> => (await read(db)).map((group) => shown(group, null)),

    /** Changes one group. Returns all groups, with a generated secret if there is one. */
    update: async (actor: Actor, change: NotificationGroupChange): Promise<NotificationGroup[]> => {
      await validate([change])
      return db.transaction(async (tx) => {
        await store.lock(tx)
        const { fresh } = await changeIn(tx, actor, change)
        return (await read(tx)).map((group) => shown(group, group.definition.id === change.id ? fresh : null))
      })
    },

    validate,

    /** Locks the groups for the caller's transaction, before anything writes audit records. */
    lock: store.lock,

    /** Changes checked groups in the caller's transaction. Returns what changed in each. */
    changeAll: async (tx: Tx, actor: Actor, changes: readonly NotificationGroupChange[]) => {
      await store.lock(tx)
      const done: { groupName: string; changes: string }[] = []
      for (const [i, change] of changes.entries()) {
        const { groupName, changes, fresh } = await changeIn(tx, actor, change)
        if (fresh !== null)
          throw invalid(
            `body.notificationGroups[${i}].channels.webhook.secret`,
            'is required, because a generated secret could not be shown',
          )
        if (changes !== '') done.push({ groupName, changes })
      }
      return done
    },

    /** Returns the active event streams. */
    plans: async (): Promise<OutputPlan[]> =>
      (await read(db)).flatMap((group) => outputsOf(group, () => openSecret(group))),

    webhookOf: async (groupId: number): Promise<WebhookTarget | null> => {
      const group = (await read(db)).find(({ definition }) => definition.id === groupId)
      if (group === undefined || !group.config.isEnabled || !group.config.channels.webhook.isEnabled) return null
      const secret = openSecret(group)
      const { url, ca } = group.config.channels.webhook
      // An error instead of null, so that waiting messages are kept until somebody enters the secret again.
      if (secret === null) throw new Error(`the webhook secret of group ${groupId} cannot be opened`)
      return { url, secret, ca: certificatesOf(ca) }
    },

    isRecipient: async (groupId: number, address: string): Promise<boolean> => {
      const config = (await read(db)).find(({ definition }) => definition.id === groupId)?.config
      return (
        config?.isEnabled === true &&
        config.channels.email.isEnabled &&
        config.channels.email.recipients.some((one) => fold(one) === fold(address))
      )
    },
  }
}

export type GroupsService = ReturnType<typeof createGroups>
