import { Columns } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { ReactNode } from 'react'
import { BrandCard } from '../shared/BrandCard.tsx'
import { brandOf } from '../shared/brand.ts'
import type { Providers } from '../shared/session.ts'

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
    <Columns
      as="main"
      pad={24}
      style={{ placeItems: 'center', minHeight: '100%', background: background ?? undefined }}
    >
      <BrandCard custom={custom} {...(title === undefined ? {} : { title })}>
        {children}
      </BrandCard>
    </Columns>
  )
}
