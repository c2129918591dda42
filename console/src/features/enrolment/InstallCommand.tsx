import { CopyField } from '../../ui/CopyField.tsx'
import { SeverityShape } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './enrolment.module.css'
import type { MadeToken } from './made-token.ts'
import { strings } from './strings.ts'

/** Shows the install command and the token separately, because the shell keeps commands in its history. */
export const InstallCommand = ({ made }: { made: MadeToken }) => (
  <div className={classes.command}>
    <p>{strings.step1({ maxUses: made.maxUses })}</p>
    <CopyField value={made.command} what={strings.command} />
    <p>{strings.step2({ maxUses: made.maxUses, time: <Time value={made.expiresAt} form="local" /> })}</p>
    <CopyField value={made.token} what={strings.token} />
    {made.reachableFromElsewhere ? null : (
      <p className={classes.warning}>
        <SeverityShape severity="amber" />
        <span>{strings.localOnly({ code: (text) => <code>{text}</code> })}</span>
      </p>
    )}
  </div>
)
