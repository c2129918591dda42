import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { MadeToken } from './made-token.ts'
import { strings } from './strings.ts'

/** Shows how to install the package for macOS with a new token. */
export const MacosSteps = ({ made }: { made: MadeToken }) => (
  <>
    <p>{strings.macosStep1}</p>
    <CopyField value={`sudo sh install.sh --server ${made.serverUrl}`} what={strings.command} />
    <p>{strings.step2({ maxUses: made.maxUses, time: <Time value={made.expiresAt} form="local" /> })}</p>
    <CopyField value={made.token} what={strings.token} />
  </>
)
