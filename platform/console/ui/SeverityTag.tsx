import { type BoxProps, Row } from './layout/layout.tsx'
import classes from './SeverityTag.module.css'
import type { Severity } from './theme/tokens.ts'

// A shape per severity, so that the meaning does not depend on colour: dash, diamond, triangle, octagon.
const shapes: Record<Severity, string> = {
  neutral: 'M2 5h8v2H2z',
  amber: 'M6 1l5 5-5 5-5-5z',
  red: 'M6 1l5.500 10H.5z',
  violet: 'M3.900 1h4.200L11 3.900v4.200L8.100 11H3.900L1 8.100V3.900z',
}

export const SeverityShape = ({ severity }: { severity: Severity }) => (
  <svg viewBox="0 0 12 12" width={10} height={10} aria-hidden="true" className={classes[severity]}>
    <path d={shapes[severity]} fill="currentColor" />
  </svg>
)

/** Shows a sentence after the shape of its severity. */
export const SeverityLine = ({ severity, children, ...rest }: BoxProps & { severity: Severity }) => (
  <Row as="p" align="baseline" {...rest}>
    <SeverityShape severity={severity} />
    {children}
  </Row>
)

export interface SeverityTagProps {
  severity: Severity
  /** The label. Colour and shape only repeat it. */
  word: string
  title?: string
}

export const SeverityTag = ({ severity, word, title }: SeverityTagProps) => (
  <span className={`${classes.tag} ${classes[severity]}`} title={title}>
    <SeverityShape severity={severity} />
    {word}
  </span>
)
