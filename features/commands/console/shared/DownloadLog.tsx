import { Button } from '@mantine/core'
import { plainText } from '@portcullis/platform/console/lib/device-text.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { withPageWords } from '@portcullis/platform/console/ui/words.ts'
import { getDebugLog } from '#features/contract.ts'
import { downloadByTicket } from '#features/identity/console/shared/download-by-ticket.ts'

const strings = withPageWords({})

// Host names can contain characters that file names cannot.
const fileSafe = (text: string) => plainText(text).replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')

/** Downloads a debug log of a host. */
export const DownloadLog = ({ uuid, host, id }: { uuid: string; host: string; id: string }) => {
  const { api } = useServices()
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<Icon name="download" size={12} />}
      onClick={() =>
        void downloadByTicket(api, getDebugLog, { params: { agentId: uuid, id } }, `${fileSafe(host)}.log.gz`).catch(
          tellFailure,
        )
      }
    >
      {strings.download}
    </Button>
  )
}
