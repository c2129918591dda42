import { Button } from '@mantine/core'
import { DeviceText } from '../../ui/DeviceText.tsx'
import classes from './settings.module.css'
import { strings } from './strings.ts'

export interface DomainHintProps {
  /** What is entered. */
  value: string
  enter: (text: string) => void
  canWrite: boolean
}

const hostOf = (authority: string) => {
  const text = /^https?:\/\//i.test(authority) ? authority : `https://${authority}`
  return URL.canParse(text) ? new URL(text).host : null
}

/** The name this very page was opened by, beside the one that is set. */
export const DomainHint = ({ value, enter, canWrite }: DomainHintProps) => {
  const { host } = window.location
  const isSame = value !== '' && hostOf(value)?.toLowerCase() === host.toLowerCase()
  if (isSame) return <p className={classes.quiet}>{strings.thisIsTheNameYouOpened}</p>
  return (
    <p className={classes.hint}>
      <span>
        {strings.youOpenedTheConsoleByDevicetext({
          deviceText: <DeviceText value={host} />,
          value:
            value === ''
              ? '. No name is set: mails hold the address this server listens at, which may not lead anywhere from outside.'
              : '. Links in mails lead to the name below: open it from another machine to be sure of it.',
        })}
      </span>
      {canWrite && window.location.protocol === 'https:' ? (
        <Button size="compact-sm" variant="default" onClick={() => enter(host)}>
          {strings.takeThisName}
        </Button>
      ) : null}
    </p>
  )
}
