import { Textarea } from '@mantine/core'
import type { ComponentProps } from 'react'
import { strings } from './strings.ts'

/** The list of host names that can enrol with a token. */
export const HostNamesField = (props: ComponentProps<typeof Textarea>) => (
  <Textarea
    label={strings.onlyTheseHosts}
    description={strings.onlyTheseHostsHelp({ code: (text) => <code>{text}</code> })}
    autosize
    minRows={2}
    maxRows={8}
    spellCheck={false}
    {...props}
  />
)
