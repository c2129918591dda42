import { CopyField } from '../../ui/CopyField.tsx'
import { SeverityShape } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './enrolment.module.css'
import type { MadeToken } from './NewTokenForm.tsx'

/** The command of a fresh token. It holds the secret, so it is shown only now. */
export const InstallCommand = ({ made }: { made: MadeToken }) => (
  <div className={classes.command}>
    <p>
      Run this as root on each Linux host. Good for {made.maxUses.toLocaleString('en')} hosts until{' '}
      <Time value={made.expiresAt} form="local" />; shown only now.
    </p>
    <CopyField value={made.command} what="Command" />
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
