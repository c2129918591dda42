/** Kinds of values. The server never returns the value of a `secret`. */
export type ConfigKind =
  | 'text'
  | 'lines'
  | 'host'
  | 'https'
  | 'ldap'
  | 'email'
  | 'boolean'
  | 'integer'
  | 'share'
  | 'choice'
  | 'secret'
  | 'certificates'
  | 'image'
  | 'color'
  | 'dn'
  | 'bindName'
  | 'filter'
  | 'attribute'
  | 'tags'
  | 'authority'
  | 'licence'

export interface ConfigItem {
  /** Label of the field. */
  readonly label: string
  /** Meaning, unit and limits. */
  readonly description: string
  readonly kind: ConfigKind
  /** Value that applies if the setting has none. */
  readonly default: string
  /** Maximum length in UTF-16 units. */
  readonly max: number
  /** Values of a choice. */
  readonly choices?: readonly string[]
  /** Minimum length of a secret. */
  readonly min?: number
  /** Whether leading and trailing white space is refused, because readers of the secret trim it. */
  readonly isTrimmed?: boolean
  /** Range of an integer. */
  readonly range?: readonly [number, number]
  /** Unit of a number, as it is shown after the value. */
  readonly unit?: string
  /** Heading under which a form shows the setting. */
  readonly section?: string
}

export interface ConfigGroup {
  readonly title: string
  readonly items: Readonly<Record<string, ConfigItem>>
  /** Settings that define where the secrets are sent. To change one of them, the secrets must be sent again. */
  readonly place: readonly string[]
}

type Given = Partial<
  Pick<ConfigItem, 'default' | 'min' | 'isTrimmed' | 'max' | 'choices' | 'range' | 'unit' | 'section'>
>
/** Defines a setting. */
export const item = (kind: ConfigKind, label: string, description: string, more: Given = {}): ConfigItem => ({
  label,
  description,
  kind,
  default: more.default ?? (kind === 'boolean' ? 'false' : ''),
  max:
    more.max ??
    { certificates: 65_536, lines: 4_096, image: 350_000, filter: 1_024, dn: 1_024, licence: 8_192 }[kind as string] ??
    255,
  ...(more.min === undefined ? {} : { min: more.min }),
  ...(more.isTrimmed === undefined ? {} : { isTrimmed: more.isTrimmed }),
  ...(more.choices === undefined ? {} : { choices: more.choices }),
  ...(more.range === undefined ? {} : { range: more.range }),
  ...(more.unit === undefined ? {} : { unit: more.unit }),
  ...(more.section === undefined ? {} : { section: more.section }),
})
/** Defines a group of settings. */
export const group = <const I extends Record<string, ConfigItem>>(
  title: string,
  place: readonly (keyof I & string)[],
  items: I,
) => ({
  title,
  place,
  items,
})
