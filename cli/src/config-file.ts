import { readFileSync } from 'node:fs'
import { type ConfigDocument, configGroups, groupOfItem, maskedSecret } from '@portcullis/contract'
import { parse, stringify } from 'yaml'
import { CliError } from './client.ts'
import { variable } from './environment.ts'

/** Where the value of an item stands instead of in the file: secrets do not belong there. */
type Reference = { fromEnv: string } | { fromFile: string }

const isReference = (value: unknown): value is Reference =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === 1 &&
  ['fromEnv', 'fromFile'].some((key) => typeof (value as Record<string, unknown>)[key] === 'string')

const isSecret = (name: string): boolean => {
  const group = groupOfItem(name)
  return group !== undefined && (configGroups[group].items as Record<string, { kind: string }>)[name]?.kind === 'secret'
}

const resolve = (name: string, value: unknown): string | null => {
  if (value === null || typeof value === 'string') {
    if (typeof value === 'string' && isSecret(name))
      throw new CliError(`${name} is a secret: name a variable (fromEnv) or a file (fromFile) that holds it.`)
    return value
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!isReference(value)) throw new CliError(`${name} is neither a text nor a reference (fromEnv, fromFile).`)
  if ('fromEnv' in value) {
    const text = variable(value.fromEnv)
    if (text === undefined) throw new CliError(`${name}: the variable ${value.fromEnv} is not set.`)
    return text
  }
  try {
    return readFileSync(value.fromFile, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new CliError(`${name}: ${value.fromFile} cannot be read: ${(error as Error).message}.`)
  }
}

const known = ['settings', 'tags', 'notificationGroups', 'rules']

/** The variable that stands for the secret of a group's webhook. */
const webhookVariable = (id: unknown): string => `NOTIFICATION_GROUP_${String(id)}_WEBHOOK_SECRET`

/** Groups with the secrets of their webhooks changed by `turn`. */
const withSecrets = (groups: unknown, turn: (secret: unknown, id: unknown) => unknown): unknown =>
  !Array.isArray(groups)
    ? groups
    : groups.map((group: { id?: unknown; channels?: { webhook?: { secret?: unknown } } }) =>
        group?.channels?.webhook?.secret === undefined
          ? group
          : {
              ...group,
              channels: {
                ...group.channels,
                webhook: { ...group.channels.webhook, secret: turn(group.channels.webhook.secret, group.id) },
              },
            },
      )

/** Reads a file of the configuration, with what it refers to. */
export const readConfigFile = (file: string): ConfigDocument => {
  let said: unknown
  try {
    // No more aliases than a person writes: ten lines can stand for gigabytes.
    said = parse(readFileSync(file, 'utf8'), { maxAliasCount: 100 })
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}.`)
  }
  if (typeof said !== 'object' || said === null || Array.isArray(said)) throw new CliError(`${file} holds no document.`)
  const unknown = Object.keys(said).find((key) => !known.includes(key))
  if (unknown !== undefined) throw new CliError(`${file} has ${unknown}; known are ${known.join(', ')}.`)
  const { settings, tags, notificationGroups, rules } = said as {
    settings?: Record<string, unknown> | null
  } & ConfigDocument
  return {
    ...(settings === undefined || settings === null
      ? {}
      : {
          settings: Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, resolve(name, value)])),
        }),
    ...(tags === undefined ? {} : { tags }),
    ...(notificationGroups === undefined
      ? {}
      : {
          notificationGroups: withSecrets(notificationGroups, (secret, id) => {
            if (typeof secret === 'string' && secret !== '' && secret !== maskedSecret)
              throw new CliError(
                `The secret of the webhook of group ${String(id)} does not belong into the file: name a variable (fromEnv) or a file (fromFile) that holds it.`,
              )
            return typeof secret === 'string' ? secret : resolve(webhookVariable(id), secret)
          }) as NonNullable<ConfigDocument['notificationGroups']>,
        }),
    ...(rules === undefined ? {} : { rules }),
  }
}

/** The document as YAML; a secret that is set becomes a reference to a variable of its name. */
export const writeConfigFile = ({ settings, tags, notificationGroups, rules }: ConfigDocument): string =>
  stringify(
    {
      settings: Object.fromEntries(
        Object.entries(settings ?? {}).map(([name, value]) => [
          name,
          value === maskedSecret ? { fromEnv: name } : value,
        ]),
      ),
      tags: tags ?? [],
      notificationGroups: withSecrets(notificationGroups ?? [], (secret, id) =>
        secret === maskedSecret ? { fromEnv: webhookVariable(id) } : secret,
      ),
      rules: rules ?? [],
    },
    { lineWidth: 0 },
  )
