import { Button } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { followPlainly } from './PlainLink.tsx'

/** A link that looks like a small button, for long lists and for addresses that are texts. */
export const PlainButton = ({
  href,
  children,
  tabIndex,
}: {
  href: string
  children: ReactNode
  tabIndex?: number | undefined
}) => {
  const router = useRouter()
  return (
    <Button
      component="a"
      size="compact-xs"
      variant="default"
      href={href}
      tabIndex={tabIndex}
      onClick={(event) => followPlainly(event, () => router.history.push(href))}
    >
      {children}
    </Button>
  )
}
