import { CopyField } from '../../ui/CopyField.tsx'
import { SeverityShape } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './enrolment.module.css'
import type { MadeToken } from './NewTokenForm.tsx'

/** Shows the install command and the token separately, because the shell keeps commands in its history. */
export const InstallCommand = ({ made }: { made: MadeToken }) => (
  <div className={classes.command}>
    <p>
      1. Run this command as root on {made.maxUses === 1 ? 'the Linux host' : 'each Linux host'}. It asks for the token.
    </p>
    <CopyField value={made.command} what="Command" />
    <p>
      2. Paste the token when the command asks for it. It works for{' '}
      {made.maxUses === 1 ? '1 host' : `${made.maxUses.toLocaleString('en')} hosts`} until{' '}
      <Time value={made.expiresAt} form="local" />, and is shown only once.
    </p>
    <CopyField value={made.token} what="Token" />
    {made.reachableFromElsewhere ? null : (
      <p className={classes.warning}>
        <SeverityShape severity="amber" />
        <span>
          The server listens on this machine only, so the command works here and nowhere else. To add other hosts, start
          it with <code>PORTCULLIS_HOST=0.0.0.0</code>.
        </span>
      </p>
    )}
  </div>
)
