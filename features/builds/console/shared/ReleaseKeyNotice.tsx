import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Notice, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { strings } from '@portcullis/platform/console/ui/strings.ts'
import { Link } from '@tanstack/react-router'
import { listPackages } from '#features/contract.ts'

/** Warns people who manage agent builds that this server installs agents without its release key, so new hosts will refuse updates. */
export const ReleaseKeyNotice = () => {
  const { session } = useServices()
  const packages = useRead(['packages'], listPackages, { enabled: session.may('packages:manage') })
  if (packages.data === undefined || packages.data.releaseKey?.isInBuild === true) return null
  return (
    <Notice as="div" align="baseline" role="note" aria-label={strings.noReleaseKey}>
      <SeverityShape severity="amber" />
      <Stack grow gap={2}>
        <strong>{strings.releaseKeyMissing}</strong>
        <span>{strings.releaseKeyHint}</span>
        <Link to="/settings/packages">{strings.configureReleaseKey}</Link>
      </Stack>
    </Notice>
  )
}
