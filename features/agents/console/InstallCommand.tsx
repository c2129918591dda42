import { SegmentedControl } from '@mantine/core'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityLine } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useState } from 'react'
import { MacosSteps } from './MacosSteps.tsx'
import type { MadeToken } from './made-token.ts'
import { strings } from './strings.ts'
import { WindowsSteps } from './WindowsSteps.tsx'

const systems = [
  { value: 'linux', label: 'Linux' },
  { value: 'windows', label: 'Windows' },
  { value: 'macos', label: 'macOS' },
]

/** Shows the install command and the token separately, because the shell keeps commands in its history. */
const LinuxSteps = ({ made }: { made: MadeToken }) => (
  <>
    <p>{strings.step1({ maxUses: made.maxUses })}</p>
    <CopyField value={made.command} what={strings.command} />
    <p>{strings.step2({ maxUses: made.maxUses, time: <Time value={made.expiresAt} form="local" /> })}</p>
    <CopyField value={made.token} what={strings.token} />
  </>
)

/** Shows how to install the agent on Linux, Windows and macOS with a new token. */
export const InstallCommand = ({ made }: { made: MadeToken }) => {
  const [system, setSystem] = useState('linux')
  return (
    <Stack gap={10}>
      <SegmentedControl
        aria-label={strings.operatingSystem}
        data={systems}
        value={system}
        onChange={setSystem}
        style={{ alignSelf: 'flex-start' }}
      />
      {system === 'windows' ? (
        <WindowsSteps made={made} />
      ) : system === 'macos' ? (
        <MacosSteps made={made} />
      ) : (
        <LinuxSteps made={made} />
      )}
      {made.reachableFromElsewhere ? null : (
        <SeverityLine severity="amber" small style={{ textAlign: 'left' }}>
          <span>{strings.localOnly({ code: (text) => <code>{text}</code> })}</span>
        </SeverityLine>
      )}
    </Stack>
  )
}
