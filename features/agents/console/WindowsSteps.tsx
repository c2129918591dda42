import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { saveFile } from '@portcullis/platform/console/ui/download.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { SeverityLine } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { createWindowsInstaller } from '#features/contract.ts'
import type { MadeToken } from './made-token.ts'
import { strings } from './strings.ts'

/** Name of the installer in the commands if this server has none. */
const anyInstaller = 'portcullis-agent-windows-x64.msi'

/** The download of the installer without a token needs no account, like those of the other agents. */
const plainInstaller = '/agent/v1/download/windows-x64'

/** Downloads the installer with the address and the token in it. */
const InstallerDownload = ({ made }: { made: MadeToken }) => {
  const { api } = useServices()
  const { busy, failure, run } = useChange({ closes: false })
  const download = () =>
    run(async () => {
      saveFile(await api.download(createWindowsInstaller, { params: { id: made.id }, body: { token: made.token } }))
    })
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="download" />}
        loading={busy}
        onClick={() => void download()}
        style={{ alignSelf: 'flex-start' }}
      >
        {strings.downloadInstaller}
      </Button>
      <ErrorState failure={failure} inline />
      <SeverityLine severity="amber" small style={{ textAlign: 'left' }}>
        <span>{strings.installerIsSecret}</span>
      </SeverityLine>
    </>
  )
}

/** Shows how to install the agent on Windows: by hand, by Intune and by Group Policy. */
export const WindowsSteps = ({ made }: { made: MadeToken }) => {
  const { windowsInstaller: installer, token, serverUrl } = made
  const values = `SERVERURL=${serverUrl} TOKEN=${token}`
  return (
    <>
      <p>
        {strings.windowsValidity({
          maxUses: made.maxUses,
          time: <Time value={made.expiresAt} form="local" />,
        })}
      </p>
      {installer === null ? (
        <SeverityLine severity="amber" small style={{ textAlign: 'left' }}>
          <span>{strings.noInstaller({ code: (text) => <code>{text}</code> })}</span>
        </SeverityLine>
      ) : null}
      <h3>{strings.byHand}</h3>
      {installer === null ? null : (
        <Button
          component="a"
          href={plainInstaller}
          download={installer.name}
          variant="default"
          leftSection={<Icon name="download" />}
          style={{ alignSelf: 'flex-start' }}
        >
          {strings.downloadPlain}
        </Button>
      )}
      <p>{strings.byHandText}</p>
      <CopyField value={`msiexec /i ${installer?.name ?? anyInstaller} ${values} /qn`} what={strings.command} />
      <h3>Intune</h3>
      <p>{strings.intuneText}</p>
      <CopyField value={values} what={strings.intuneArguments} />
      <h3>{strings.groupPolicy}</h3>
      <p>{strings.groupPolicyText}</p>
      {installer === null ? null : <InstallerDownload made={made} />}
    </>
  )
}
