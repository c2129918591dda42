import { readFileSync } from 'node:fs'
import { type ConfigDocument, configGroups, groupOfItem, maskedSecret } from '@portcullis/features/contract.ts'
import { parse, stringify } from 'yaml'
import { CliError } from './client.ts'
import { variable } from './environment.ts'

/** Reference to the source of a value. Secrets must not be in the configuration file. */
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
      throw new CliError(
        `${name} is a secret and must not be in the file. Use a variable (fromEnv) or a file (fromFile) that contains it.`,
      )
    return value
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!isReference(value))
    throw new CliError(`${name} must be a text, a number, true, false, or a reference (fromEnv, fromFile).`)
  if ('fromEnv' in value) {
    const text = variable(value.fromEnv)
    if (text === undefined) throw new CliError(`${name} refers to the variable ${value.fromEnv}, which is not set.`)
    return text
  }
  try {
    return readFileSync(value.fromFile, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new CliError(`${name} refers to ${value.fromFile}, which cannot be read: ${(error as Error).message}.`)
  }
}

const known = ['settings', 'tags', 'notificationGroups', 'rules']

/** Returns the name of the variable for the webhook secret of a notification group. */
const webhookVariable = (id: unknown): string => `NOTIFICATION_GROUP_${String(id)}_WEBHOOK_SECRET`

/** Returns the groups with their webhook secrets mapped by `map`. */
const withSecrets = (groups: unknown, map: (secret: unknown, id: unknown) => unknown): unknown =>
  !Array.isArray(groups)
    ? groups
    : groups.map((group: { id?: unknown; channels?: { webhook?: { secret?: unknown } } }) =>
        group?.channels?.webhook?.secret === undefined
          ? group
          : {
              ...group,
              channels: {
                ...group.channels,
                webhook: { ...group.channels.webhook, secret: map(group.channels.webhook.secret, group.id) },
              },
            },
      )

/** Reads a configuration file and resolves its references. */
export const readConfigFile = (file: string): ConfigDocument => {
  let parsed: unknown
  try {
    // Limited, because a few lines with nested aliases can expand to gigabytes.
    parsed = parse(readFileSync(file, 'utf8'), { maxAliasCount: 100 })
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${(error as Error).message}.`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new CliError(`${file} contains no configuration document.`)
  const unknown = Object.keys(parsed).find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw new CliError(`${file} contains the unknown member ${unknown}. Known members are ${known.join(', ')}.`)
  const { settings, tags, notificationGroups, rules } = parsed as {
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
                `The webhook secret of group ${String(id)} must not be in the file. Use a variable (fromEnv) or a file (fromFile) that contains it.`,
              )
            return typeof secret === 'string' ? secret : resolve(webhookVariable(id), secret)
          }) as NonNullable<ConfigDocument['notificationGroups']>,
        }),
    ...(rules === undefined ? {} : { rules }),
  }
}

/** Returns the document as YAML. Replaces each secret with a reference to a variable. */
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
