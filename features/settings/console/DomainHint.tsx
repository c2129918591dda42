import { Button } from '@mantine/core'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Notice } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { strings } from './strings.ts'

export interface DomainHintProps {
  /** The entered name. */
  value: string
  enter: (text: string) => void
  canWrite: boolean
}

const hostOf = (authority: string) => {
  const text = /^https?:\/\//i.test(authority) ? authority : `https://${authority}`
  return URL.canParse(text) ? new URL(text).host : null
}

/** Compares the name in the address bar with the configured one. */
export const DomainHint = ({ value, enter, canWrite }: DomainHintProps) => {
  const { host } = window.location
  const isSame = value !== '' && hostOf(value)?.toLowerCase() === host.toLowerCase()
  if (isSame) return <Note>{strings.domainInUse}</Note>
  return (
    <Notice>
      <span>{(value === '' ? strings.domainMissing : strings.domainOther)({ host: <DeviceText value={host} /> })}</span>
      {canWrite && window.location.protocol === 'https:' ? (
        <Button size="compact-sm" variant="default" onClick={() => enter(host)}>
          {strings.useThisName}
        </Button>
      ) : null}
    </Notice>
  )
}
