import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/**
 * A link for long lists. The router's link computes its address and state at every render, which costs more than the rest
 * of a row.
 */
export const PlainLink = ({
  href,
  className,
  open,
  children,
}: {
  href: string
  className?: string | undefined
  /** Opens the target by a plain click, instead of going to the address. */
  open?: (() => void) | undefined
  children: ReactNode
}) => {
  const router = useRouter()
  return (
    <a
      href={href}
      className={className}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        if (open === undefined) router.history.push(href)
        else open()
      }}
    >
      {children}
    </a>
  )
}
