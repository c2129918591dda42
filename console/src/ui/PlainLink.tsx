import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/**
 * A link for long lists. The router's link computes its address and state at every render, which costs more than the rest
 * of a row.
 */
export const PlainLink = ({ href, children }: { href: string; children: ReactNode }) => {
  const router = useRouter()
  return (
    <a
      href={href}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        router.history.push(href)
      }}
    >
      {children}
    </a>
  )
}
