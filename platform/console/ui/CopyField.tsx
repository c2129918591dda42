import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { copyText } from './copy.ts'
import { Icon } from './icons.tsx'
import { Row, Text } from './layout/layout.tsx'
import { strings } from './strings.ts'

export interface CopyFieldProps {
  value: string
  /** Name of the value, for the message after copying. */
  what: string
  /** The value in a form that is easier to read. */
  shown?: ReactNode
}

/** A value to copy: a command, a token, a link. */
export const CopyField = ({ value, what, shown }: CopyFieldProps) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <Row
      pad="6px 6px 6px 12px"
      style={{ border: '1px solid var(--pc-line)', borderRadius: 6, background: 'var(--pc-sunken)' }}
    >
      <Text as="code" tiny grow scroll nowrap style={{ userSelect: 'all' }} tabIndex={0}>
        {shown ?? value}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Icon name={copied ? 'check' : 'copy'} size={14} />}
        onClick={() => void copyText(value, what).then(() => setCopied(true))}
      >
        {copied ? strings.copied : strings.copy}
      </Button>
    </Row>
  )
}
