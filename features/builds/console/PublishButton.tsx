import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useRef, useState } from 'react'
import { publishPackage } from '#features/contract.ts'
import { buildSystems } from './shared/build-systems.ts'
import { strings } from './strings.ts'

/** Uploads a package file that the operator chooses. `onDone` gets the failure, or null. */
export const PublishButton = ({ onDone }: { onDone: (failure: Error | null) => void }) => {
  const { api } = useServices()
  const input = useRef<HTMLInputElement>(null)
  const [isBusy, setBusy] = useState(false)

  const publish = async (file: File) => {
    setBusy(true)
    onDone(null)
    try {
      const { version, architecture } = await api.call(publishPackage, { file })
      tell(strings.packagePublished({ version, system: buildSystems[architecture] }))
      onDone(null)
    } catch (error) {
      onDone(error as Error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={strings.packageFile}
        accept=".pkg"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          event.currentTarget.value = ''
          if (file !== undefined) void publish(file)
        }}
      />
      <Button size="compact-sm" variant="default" loading={isBusy} onClick={() => input.current?.click()}>
        {strings.publishPackage}
      </Button>
    </>
  )
}
