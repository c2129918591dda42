import type { ReactNode } from 'react'
import { Icon, type IconName } from './icons.tsx'
import { Stack, Text } from './layout/layout.tsx'

export interface EmptyStateProps {
  icon: IconName
  title: string
  /** The state is the whole page, and its title the page's heading. */
  isPage?: boolean
  children?: ReactNode
}

/** An empty list: says what appears here and offers the first step. */
export const EmptyState = ({ icon, title, isPage = false, children }: EmptyStateProps) => (
  <Stack grow centred gap={8} pad="32px 16px" quiet>
    <Icon name={icon} size={28} />
    <Text as={isPage ? 'h1' : 'h2'} style={{ color: 'var(--pc-ink)', fontSize: 16 }}>
      {title}
    </Text>
    {children}
  </Stack>
)
