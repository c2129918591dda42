import { TextInput } from '@mantine/core'
import type { FieldFrame } from '../../ui/form/field.ts'
import classes from './settings.module.css'
import { strings } from './strings.ts'

export interface ColorFieldProps extends FieldFrame {
  /** `#rrggbb`, or what was typed of it; empty: the theme decides. */
  value: string
  onChange: (text: string) => void
}

const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text)

/** A colour: typed, or chosen by the system's own chooser. */
export const ColorField = ({ value, onChange, ...frame }: ColorFieldProps) => (
  <TextInput
    {...frame}
    maxLength={7}
    placeholder={strings.ofTheTheme}
    spellCheck={false}
    error={frame.error ?? (value === '' || isColor(value) ? undefined : strings.isNoColorSuchAs1c7ed6)}
    leftSection={
      <input
        type="color"
        className={classes.swatch}
        aria-label={`Choose: ${frame.label}`}
        value={isColor(value) ? value : '#808080'}
        data-empty={isColor(value) ? undefined : true}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    }
    value={value}
    onChange={(event) => onChange(event.currentTarget.value.trim())}
  />
)
