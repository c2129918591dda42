/**
 * All colours and measures of the console: two greys (ground and ink), one accent, four severities. `tokens.test.ts` checks
 * the contrast of each text pair in both schemes.
 */

/** The four severities of the console. Each has a shape and a label, never only a colour. */
export type Severity = 'neutral' | 'amber' | 'red' | 'violet'

export interface SchemeTokens {
  /** Behind everything. */
  ground: string
  /** Tables, cards, drawers. */
  surface: string
  /** Menus, popovers, hovered rows. */
  raised: string
  /** Wells: code, inputs of read-only data. */
  sunken: string
  /** Hairlines. Decorative, so without a contrast requirement. */
  line: string
  /** Borders of controls: 3:1 against the surface. */
  edge: string
  ink: string
  /** Secondary text: 4.5:1 on every ground. */
  muted: string
  accent: string
  accentHover: string
  /** Ground of a selected row or the current place. */
  accentSoft: string
  onAccent: string
  severity: Record<Severity, { ink: string; soft: string }>
}

export const light: SchemeTokens = {
  ground: '#f4f6f8',
  surface: '#ffffff',
  raised: '#f7f9fb',
  sunken: '#edf0f3',
  line: '#dde2e8',
  edge: '#7f8997',
  ink: '#182029',
  muted: '#535e6c',
  accent: '#0b6476',
  accentHover: '#084f5e',
  accentSoft: '#ddeff3',
  onAccent: '#ffffff',
  severity: {
    neutral: { ink: '#4b5664', soft: '#e8ecf0' },
    amber: { ink: '#7d4a00', soft: '#fcecd0' },
    red: { ink: '#a8201a', soft: '#fde4e1' },
    violet: { ink: '#6422ac', soft: '#efe3fc' },
  },
}

export const dark: SchemeTokens = {
  ground: '#0e1216',
  surface: '#151a20',
  raised: '#1d242c',
  sunken: '#0a0d10',
  line: '#29323b',
  edge: '#71808f',
  ink: '#e3e8ee',
  muted: '#9caab8',
  accent: '#5cc4d8',
  accentHover: '#82d5e5',
  accentSoft: '#12343d',
  onAccent: '#04212a',
  severity: {
    neutral: { ink: '#aeb9c5', soft: '#27303a' },
    amber: { ink: '#f2b65c', soft: '#382a12' },
    red: { ink: '#ff978f', soft: '#421c1a' },
    violet: { ink: '#cda9ff', soft: '#31224b' },
  },
}

/** Row height of tables in px. 1,000,000 rows stay below the 33.5 million px that Chromium can scroll. */
export const rowHeight = 32
/** Height in px of a row that is a card, on phones. */
export const cardHeight = 84

/** Font stacks of system fonts, so that nothing is downloaded. */
export const fonts = {
  text: "'Segoe UI', system-ui, -apple-system, Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif",
  mono: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
} as const

/** Returns the CSS custom properties of one scheme, `--pc-…`. */
export const schemeVariables = (tokens: SchemeTokens): Record<string, string> => {
  const { severity, ...plain } = tokens
  const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return {
    ...Object.fromEntries(Object.entries(plain).map(([name, value]) => [`--pc-${kebab(name)}`, value])),
    ...Object.fromEntries(
      Object.entries(severity).flatMap(([name, pair]) => [
        [`--pc-${name}`, pair.ink],
        [`--pc-${name}-soft`, pair.soft],
      ]),
    ),
  }
}
