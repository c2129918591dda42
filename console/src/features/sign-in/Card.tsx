import type { ReactNode } from 'react'
import type { Providers } from '../../lib/session.ts'
import { Logo } from '../../ui/Logo.tsx'
import classes from './sign-in.module.css'

export interface CardProps {
  /** The customer's own items of the sign-in page. */
  custom?: Providers['customLogin'] | undefined
  title?: string
  children: ReactNode
}

/** The card of every page outside the frame. */
export const Card = ({ custom, title, children }: CardProps) => {
  const heading = title ?? (custom?.CUSTOM_LOGIN_TITLE || 'Portcullis')
  const logo = custom?.CUSTOM_LOGIN_LOGO ?? ''
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <div className={classes.head}>
          {logo.startsWith('data:image/png;base64,') ? (
            <img src={logo} alt="" className={classes.logo} />
          ) : (
            <Logo size={40} />
          )}
          <h1>{heading}</h1>
        </div>
        {custom !== undefined && custom.CUSTOM_LOGIN_MESSAGE !== '' ? (
          <p className={classes.message}>{custom.CUSTOM_LOGIN_MESSAGE}</p>
        ) : null}
        {children}
      </div>
    </main>
  )
}
