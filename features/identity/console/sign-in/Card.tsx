import type { Providers } from '@portcullis/platform/console/lib/session.ts'
import { BrandCard } from '@portcullis/platform/console/ui/sign-in/BrandCard.tsx'
import { brandOf } from '@portcullis/platform/console/ui/sign-in/brand.ts'
import type { ReactNode } from 'react'
import classes from './sign-in.module.css'

export interface CardProps {
  /** The customer's own texts and images of the sign-in page. */
  custom?: Providers['customLogin'] | undefined
  title?: string
  children: ReactNode
}

/** The card of every page outside the frame. */
export const Card = ({ custom, title, children }: CardProps) => {
  const { background } = brandOf(custom)
  return (
    <main className={classes.page} style={background === null ? undefined : { background }}>
      <BrandCard custom={custom} {...(title === undefined ? {} : { title })}>
        {children}
      </BrandCard>
    </main>
  )
}
