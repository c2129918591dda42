import { Logo } from '@portcullis/platform/console/ui/Logo.tsx'
import { Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { CSSProperties, ReactNode } from 'react'
import classes from './BrandCard.module.css'
import { brandOf, type CustomLogin } from './brand.ts'

export interface BrandCardProps {
  custom: CustomLogin | undefined
  /** Replaces the customer's title. */
  title?: string
  /** A preview of the card: its title is not the heading of the page. */
  isPicture?: boolean
  children: ReactNode
}

/** Shows text with its line breaks, isolated from the direction of the text around it. */
export const Lines = ({ text }: { text: string }) => (
  <Text as="bdi" style={{ whiteSpace: 'pre-line' }}>
    {text}
  </Text>
)

/** Returns the customer's colours as CSS variables; Mantine's buttons read their own names. */
const accentOf = (accent: string | null, onAccent: string | null): CSSProperties | undefined => {
  if (accent === null) return undefined
  const hover = `color-mix(in srgb, ${accent} 88%, ${onAccent === '#ffffff' ? 'black' : 'white'})`
  return {
    '--pc-accent': accent,
    '--pc-accent-hover': hover,
    '--pc-on-accent': onAccent,
    '--mantine-primary-color-filled': accent,
    '--mantine-primary-color-filled-hover': hover,
    '--mantine-primary-color-contrast': onAccent,
  } as CSSProperties
}

/** The card of the sign-in page in the customer's design. */
export const BrandCard = ({ custom, title, isPicture = false, children }: BrandCardProps) => {
  const brand = brandOf(custom)
  const heading = <bdi>{title ?? brand.title}</bdi>
  return (
    <div
      className={classes.card}
      style={accentOf(brand.accent, brand.onAccent)}
      data-branded={brand.accent === null ? undefined : true}
    >
      <div className={classes.head}>
        {brand.logo === null ? <Logo size={40} /> : <img src={brand.logo} alt="" className={classes.logo} />}
        {isPicture ? <p className={classes.title}>{heading}</p> : <h1 className={classes.title}>{heading}</h1>}
      </div>
      {brand.message === '' ? null : (
        <Text as="p" breaks style={{ margin: '0 0 16px' }}>
          <Lines text={brand.message} />
        </Text>
      )}
      {children}
    </div>
  )
}
