import { VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { Panel, Stack, Text } from './layout/layout.tsx'
import { strings } from './strings.ts'

export interface FullPageProps {
  /** The page's heading for screen readers. The visible heading is part of the content. */
  title: string
  back: ReactNode
  children: ReactNode
}

/** The full page of an item, with a link back to its list. */
export const FullPage = ({ title, back, children }: FullPageProps) => (
  <Stack grow gap={8} pad="12px 16px 16px">
    <VisuallyHidden component="h1">{title}</VisuallyHidden>
    <Text as="nav" small aria-label={strings.back}>
      ← {back}
    </Text>
    <Panel as="div" grow gap={0} pad={0} max="max(1120px, 60vw)" style={{ overflow: 'hidden' }}>
      {children}
    </Panel>
  </Stack>
)
