import { TextInput } from '@mantine/core'
import type { FieldFrame } from '@portcullis/platform/console/ui/form/field.ts'
import classes from './settings.module.css'
import { strings } from './strings.ts'

export interface ColorFieldProps extends FieldFrame {
  /** `#rrggbb` or a part of it while typing; empty if the theme decides. */
  value: string
  onChange: (text: string) => void
}

const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text)

/** A colour, typed or chosen in the colour picker of the system. */
export const ColorField = ({ value, onChange, ...frame }: ColorFieldProps) => (
  <TextInput
    {...frame}
    maxLength={7}
    placeholder={strings.fromTheme}
    spellCheck={false}
    error={frame.error ?? (value === '' || isColor(value) ? undefined : strings.badColor)}
    leftSection={
      <input
        type="color"
        className={classes.swatch}
        aria-label={strings.chooseColor({ label: frame.label })}
        value={isColor(value) ? value : '#808080'}
        data-empty={isColor(value) ? undefined : true}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    }
    value={value}
    onChange={(event) => onChange(event.currentTarget.value.trim())}
  />
)
