import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from '@mantine/core'
import { strings } from '../strings.ts'
import { dark, fonts, light, schemeVariables } from './tokens.ts'

// Mantine requires ten shades; the tokens below override the filled, light and text variants.
const accentShades: MantineColorsTuple = [
  light.accentSoft,
  '#c3e2e9',
  '#9dd1dc',
  '#73becd',
  dark.accent,
  '#2f9fb5',
  '#17839a',
  light.accent,
  light.accentHover,
  '#063f4b',
]

const filled: Readonly<Record<string, { background: string; hover: string; color: string }>> = {
  accent: { background: 'var(--pc-accent)', hover: 'var(--pc-accent-hover)', color: 'var(--pc-on-accent)' },
  red: { background: 'var(--pc-red)', hover: 'var(--pc-red)', color: 'var(--pc-surface)' },
}

// Mantine uses white text on filled backgrounds, which is unreadable on the light accent of the dark scheme.
const variantColors: VariantColorsResolver = (input) => {
  const known = input.variant === 'filled' ? filled[input.color ?? 'accent'] : undefined
  return known === undefined ? defaultVariantColorsResolver(input) : { ...known, border: '1px solid transparent' }
}

// Replaces the dark greys of Mantine (checkboxes, fields, tab lines).
const darkShades: MantineColorsTuple = [
  dark.ink,
  '#c9d2db',
  dark.muted,
  dark.edge,
  '#3c4854',
  dark.line,
  dark.raised,
  dark.surface,
  dark.ground,
  dark.sunken,
]

/** The Mantine theme. Overlays never lock scrolling, because the page itself does not scroll. */
export const theme = createTheme({
  colors: { accent: accentShades, dark: darkShades },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 4 },
  fontFamily: fonts.text,
  fontFamilyMonospace: fonts.mono,
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.333', sm: '1.385', md: '1.43', lg: '1.5', xl: '1.4' },
  spacing: { xs: '0.25rem', sm: '0.5rem', md: '0.75rem', lg: '1rem', xl: '1.5rem' },
  radius: { xs: '2px', sm: '4px', md: '6px', lg: '8px', xl: '12px' },
  defaultRadius: 'sm',
  headings: {
    fontFamily: fonts.text,
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.75rem' },
      h2: { fontSize: '1rem', lineHeight: '1.5rem' },
      h3: { fontSize: '0.875rem', lineHeight: '1.25rem' },
    },
  },
  cursorType: 'pointer',
  variantColorResolver: variantColors,
  respectReducedMotion: true,
  // By name: importing the components would add them all to the first load.
  components: {
    Modal: {
      defaultProps: {
        lockScroll: false,
        transitionProps: { duration: 90 },
        size: 'lg',
        padding: 'lg',
        closeButtonProps: { 'aria-label': strings.close },
        // The page has one banner.
        attributes: { header: { role: 'presentation' } },
      },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': strings.close } } },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { 'aria-label': strings.showPassword } } },
    Avatar: { defaultProps: { radius: '50%', color: 'accent' } },
    // Without the placeholder, a menu has only items as children, and its first item takes the focus.
    Menu: { defaultProps: { transitionProps: { duration: 60 }, shadow: 'md', withInitialFocusPlaceholder: false } },
    Popover: { defaultProps: { transitionProps: { duration: 60 }, shadow: 'md' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 350, transitionProps: { duration: 60 } } },
  },
})

const mantineVariables = (tokens: typeof light): Record<string, string> => ({
  ...schemeVariables(tokens),
  '--mantine-color-body': tokens.surface,
  '--mantine-color-text': tokens.ink,
  '--mantine-color-bright': tokens.ink,
  '--mantine-color-dimmed': tokens.muted,
  '--mantine-color-placeholder': tokens.muted,
  '--mantine-color-anchor': tokens.accent,
  '--mantine-color-error': tokens.severity.red.ink,
  '--mantine-color-default': tokens.surface,
  '--mantine-color-default-hover': tokens.raised,
  '--mantine-color-default-color': tokens.ink,
  '--mantine-color-default-border': tokens.edge,
  '--mantine-color-disabled': tokens.sunken,
  '--mantine-color-disabled-color': tokens.muted,
  '--mantine-color-disabled-border': tokens.line,
  '--mantine-primary-color-filled': tokens.accent,
  '--mantine-primary-color-filled-hover': tokens.accentHover,
  '--mantine-primary-color-contrast': tokens.onAccent,
  '--mantine-primary-color-light': tokens.accentSoft,
  '--mantine-primary-color-light-hover': tokens.accentSoft,
  '--mantine-primary-color-light-color': tokens.accent,
  '--mantine-color-accent-filled': tokens.accent,
  '--mantine-color-accent-filled-hover': tokens.accentHover,
  '--mantine-color-accent-contrast': tokens.onAccent,
  '--mantine-color-accent-light': tokens.accentSoft,
  '--mantine-color-accent-light-hover': tokens.accentSoft,
  '--mantine-color-accent-light-color': tokens.accent,
  '--mantine-color-accent-outline': tokens.accent,
  '--mantine-color-red-filled': tokens.severity.red.ink,
  '--mantine-color-red-filled-hover': tokens.severity.red.ink,
  '--mantine-color-red-contrast': tokens.surface,
  '--mantine-color-red-light': tokens.severity.red.soft,
  '--mantine-color-red-light-color': tokens.severity.red.ink,
  '--mantine-color-red-text': tokens.severity.red.ink,
})

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: mantineVariables(light),
  dark: mantineVariables(dark),
})
