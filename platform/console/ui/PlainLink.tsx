import { useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'

/** Follows a plain click inside the console. Other clicks open windows and tabs as usual. */
export const followPlainly = (event: MouseEvent, follow: () => void): void => {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  follow()
}

/**
 * A link for long lists. The router's link computes its address and state at every render, which costs more than the rest
 * of a row.
 */
export const PlainLink = ({
  href,
  className,
  open,
  tabIndex,
  isExpanded,
  children,
}: {
  href: string
  className?: string | undefined
  /** Opens the target by a plain click, instead of going to the address. */
  open?: (() => void) | undefined
  tabIndex?: number | undefined
  /** Whether the content that the link shows or hides is visible. */
  isExpanded?: boolean
  children: ReactNode
}) => {
  const router = useRouter()
  return (
    <a
      href={href}
      className={className}
      tabIndex={tabIndex}
      aria-expanded={isExpanded}
      onClick={(event) => followPlainly(event, open ?? (() => router.history.push(href)))}
    >
      {children}
    </a>
  )
}
